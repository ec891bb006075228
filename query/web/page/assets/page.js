/* What every view has in addition where scripts run: forms and links that stay in the view replace
 * <main> instead of the page, so that a changed rate shows in figures and charts at once.  Without
 * this file they work as forms and links do. */

let asked = 0;
/* The address of what is shown, without its place in the page. */
let shownAt = location.pathname + location.search;

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

/* A form that was sent keeps the focus where it was, if the field or button is there again. */
function keepFocus(used, main) {
    const isSame = (one) => one.name === used.name &&
        (one.localName !== "button" || one.textContent === used.textContent);
    const again = [...main.querySelectorAll(used.localName)].find(isSame);
    if (!again) return focusOn("");
    again.focus({ preventScroll: true });
    if (again.localName === "textarea")
        again.setSelectionRange(used.selectionStart, used.selectionEnd);
}

function replace(text, address) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const main = page.getElementById("main");
    if (!main) return false;
    const old = document.getElementById("main"), used = document.activeElement;
    const isInForm = old.contains(used) && used.form;
    old.replaceWith(document.adoptNode(main));
    document.title = page.title;
    if (address.hash) focusOn(address.hash);
    else if (isInForm) keepFocus(used, main);
    shownAt = address.pathname + address.search;
    document.dispatchEvent(new Event("daybook:shown"));
    return true;
}

/* Whether a change was made is not known. */
function sayLost(main) {
    const alert = document.createElement("p");
    alert.className = "error";
    alert.setAttribute("role", "alert");
    alert.textContent = "The server did not answer. Load the page again to see what is there now.";
    main.querySelector("h1").after(alert);
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
        if (options.body) sayLost(main);
        else location.assign(address);
        return;
    }
    if (number !== asked) return;
    const shown = new URL(answer.redirected ? answer.url : address);
    if (!answer.redirected) shown.hash = new URL(address).hash;
    const isAddress = !options.body || answer.redirected;
    if (!replace(text, shown)) location.assign(shown);
    else if (!isBack && isAddress && isHere(shown)) history.pushState(null, "", shown);
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

/* A script of the view itself has changed both the view and the address. */
document.addEventListener("daybook:moved", () => {
    shownAt = location.pathname + location.search;
});

/* Another place of the same view is the browser's to show. */
addEventListener("popstate", () => {
    if (location.pathname + location.search !== shownAt) show(location.href, {}, true);
});
