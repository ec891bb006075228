/* What every view has in addition where scripts run: forms and links that stay in the view replace
 * <main> instead of the page, so that a changed rate shows in figures and charts at once.  Without
 * this file they work as forms and links do. */

let asked = 0;

function isHere(address) {
    return address.origin === location.origin && address.pathname === location.pathname;
}

/* The place that an address names, or the head of the content: where reading goes on. */
function focusOn(hash) {
    const place = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    const target = place || document.getElementById("main");
    if (place) place.scrollIntoView();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
}

function replace(text, address) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const main = page.getElementById("main");
    if (!main) return false;
    document.getElementById("main").replaceWith(document.adoptNode(main));
    document.title = page.title;
    if (address.hash) focusOn(address.hash);
    document.dispatchEvent(new Event("daybook:shown"));
    return true;
}

/* Show what the server answers.  Another request makes this one of no use. */
async function show(address, options, isBack) {
    const number = ++asked;
    const main = document.getElementById("main");
    main.setAttribute("aria-busy", "true");
    let answer, text;
    try {
        answer = await fetch(address, options);
        text = await answer.text();
    } catch {
        if (number === asked) main.removeAttribute("aria-busy");
        if (!options.body) location.assign(address);
        return;
    }
    if (number !== asked) return;
    const shown = new URL(answer.redirected ? answer.url : address);
    if (!answer.redirected) shown.hash = new URL(address).hash;
    if (!replace(text, shown)) location.assign(shown);
    else if (!isBack && isHere(shown) && (!options.body || answer.redirected)) history.pushState(null, "", shown);
}

/* The fields as an address, without those that are empty. */
function addressOf(action, fields) {
    const address = new URL(action);
    address.search = new URLSearchParams([...fields].filter(([, value]) => value !== ""));
    return address;
}

document.addEventListener("submit", (event) => {
    const form = event.target, button = event.submitter;
    const action = button?.hasAttribute("formaction") ? button.formAction : form.action;
    const method = button?.hasAttribute("formmethod") ? button.formMethod : form.method;
    if (event.defaultPrevented || !isHere(new URL(action))) return;
    event.preventDefault();
    const fields = new FormData(form, button);
    if (method === "post") show(action, { method: "POST", body: new URLSearchParams(fields) });
    else show(addressOf(action, fields), {});
});

document.addEventListener("click", (event) => {
    const link = event.target.closest("main a[href]");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!link || event.defaultPrevented || !isPlain || link.target || link.hasAttribute("download"))
        return;
    const address = new URL(link.href);
    if (!isHere(address) || (address.search === location.search && address.hash)) return;
    event.preventDefault();
    show(address, {}).then(() => { if (!address.hash) focusOn(""), scrollTo(0, 0); });
});

addEventListener("popstate", () => show(location.href, {}, true));
