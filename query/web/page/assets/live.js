/* live: keeps the Live view up to date by the events of /api/live, and draws its chart.
 *
 * An event is the whole state (docs/API.md "Live").  view_live.c wrote one into the page; what is
 * written here looks the same.  The stream is closed while nobody can see the page. */

const WINDOW_MS = 120000;
const MEAN_MS = 10000;
const SAY_MS = 20000;
const QUIET_MS = 3000;
const RETRY_MS = 5000;
const COUNT_MS = 400;
const KEYS = 5;
const NONE = "\u2014";

const root = document.getElementById("live");
const chart = document.getElementById("live-chart");
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

/* ---- values as text ---- */

function thousands(digits) {
    const [whole, rest] = String(digits).split(".");
    const text = whole.replace("-", "\u2212").replace(/\B(?=(\d{3})+$)/g, ",");
    return rest === undefined ? text : `${text}.${rest}`;
}

function rateText(rate) {
    return rate >= 10 || rate === 0 ? thousands(Math.trunc(rate)) : rate.toFixed(1);
}

function ageText(ms) {
    for (const [size, unit] of [[86400000, "d"], [3600000, "h"], [60000, "min"], [1000, "s"]])
        if (ms >= size)
            return `${Math.floor(ms / size)}\u00a0${unit}`;
    return "now";
}

/* A rate of an exact decimal: the point moves by two digits. */
function percentText(rate) {
    const [whole, rest = ""] = rate.split(".");
    const digits = (whole + rest.padEnd(2, "0").slice(0, 2)).replace(/^0+(?=\d)/, "");
    const behind = rest.slice(2);
    return `${digits}${behind ? "." + behind : ""}\u00a0%`;
}

function behindText(ms) {
    return ms === 0 ? "up to date" : ms < 1000 ? "under 1\u00a0s behind" : `${ageText(ms)} behind`;
}

const forms = {rate: rateText, count: thousands, money: thousands, age: ageText,
               behind: behindText, text: String};

/* ---- elements ---- */

function make(name, attributes, ...children) {
    const isSvg = ["svg", "g", "path", "line", "text", "clipPath", "defs", "rect"].includes(name);
    const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                          : document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, value);
    element.append(...children);
    return element;
}

/* Count up to a number instead of jumping to it. */
function countUp(element, from, to, text) {
    const began = performance.now();
    const token = element.dataset.count = String(began);

    function step(now) {
        if (element.dataset.count !== token)
            return;
        const part = Math.min(1, (now - began) / COUNT_MS);
        element.textContent = part < 1 ? thousands(Math.round(from + (to - from) * part)) : text;
        if (part < 1)
            requestAnimationFrame(step);
    }
    requestAnimationFrame(step);
}

const shown = new Map();

function putValue(element, state) {
    const path = element.dataset.live.split(".");
    const value = path.reduce((object, name) => object?.[name], state) ?? null;
    const form = element.dataset.form;
    const text = value === null ? NONE : forms[form](value);
    const before = shown.get(element);

    shown.set(element, value);
    if (form === "count" && typeof before === "number" && value > before && !isCalm.matches)
        countUp(element, before, value, text);
    else if (element.textContent !== text && before !== value)
        element.textContent = text;
}

/* Rows of cells, each a text or a node; the first is the row's head. */
function putRows(id, rows) {
    const place = document.getElementById(id);
    const body = place.querySelector("tbody");
    const columns = place.querySelectorAll("thead th").length;

    if (rows.length === 0)
        rows = [null];
    body.replaceChildren(...rows.map(cells => {
        if (cells === null)
            return make("tr", {}, make("td", {class: "note", colspan: columns},
                                       place.dataset.none));
        return make("tr", {}, make("th", {scope: "row"}, cells[0]),
                    ...cells.slice(1).map(cell => make("td", {class: "n"}, cell)));
    }));
}

/* ---- which keys have a colour ---- */

/* A key keeps its colour while it is among the first. */
const colours = {reseller: new Map(), ad: new Map()};

function chooseColours(kind, names) {
    const chosen = colours[kind];

    for (const name of chosen.keys())
        if (!names.slice(0, 2 * KEYS).includes(name))
            chosen.delete(name);
    for (const name of names) {
        const used = [...chosen.values()];
        const free = Array.from({length: KEYS}, (_, at) => at + 1).find(at => !used.includes(at));
        if (free !== undefined && !chosen.has(name))
            chosen.set(name, free);
    }
}

function keyed(kind, name) {
    const colour = colours[kind].get(name);
    const cell = document.createDocumentFragment();

    if (chart.dataset.by === kind && colour !== undefined)
        cell.append(make("span", {class: `key k${colour}`}));
    cell.append(name);
    return cell;
}

/* ---- the chart ---- */

const HEIGHT = 240;
const PLOT = {left: 64, right: 952, top: 12, bottom: 212};
const NARROW = 600;
let points = [];
let drawn = 0;

function roundUp(number) {
    const least = Math.max(number, 4);
    const size = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 4, 5, 10].map(step => step * size).find(step => step >= least);
}

function perMs() {
    return (PLOT.right - PLOT.left) / WINDOW_MS;
}

/* A path of what `value` gives of each point; broken where nothing was seen for a while. */
function linePath(value, top, now) {
    let path = "";
    let before = null;

    for (const point of points) {
        const number = value(point);
        if (number === undefined) {
            before = null;
            continue;
        }
        const x = PLOT.right - (now - point.at) * perMs();
        const y = PLOT.bottom - number / top * (PLOT.bottom - PLOT.top);
        const goesOn = before !== null && point.at - before.at < QUIET_MS;
        path += `${goesOn ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
        before = point;
    }
    return path;
}

function seriesOf(by) {
    if (!by)
        return [{colour: 1, value: point => point.all}];
    return [...colours[by]].map(([name, colour]) => (
        {colour, value: point => point[by].get(name) ?? 0}));
}

function drawGrid(top, width) {
    const lines = [0, 1, 2, 3, 4].map(part => {
        const y = PLOT.bottom - part / 4 * (PLOT.bottom - PLOT.top);
        const text = thousands(top * part / 4);
        return make("g", {},
                    make("line", {class: part ? "grid" : "axis", x1: PLOT.left, x2: PLOT.right,
                                  y1: y, y2: y}),
                    make("text", {class: "y", x: PLOT.left - 8, y: y + 4}, text));
    });
    const seconds = width < NARROW ? [60, 0] : [90, 60, 30, 0];
    const times = seconds.map(ago => make(
        "text", {class: ago ? "x" : "y", x: PLOT.right - ago * 1000 * perMs(), y: PLOT.bottom + 20},
        ago ? `${ago} s ago` : "now"));

    return [...lines, ...times];
}

function draw(step) {
    const now = points[points.length - 1].at;
    const place = chart.querySelector(".chart");
    const width = Math.max(place.clientWidth, 280);
    const by = chart.dataset.by;
    const series = seriesOf(by);
    const most = Math.max(1, ...points.flatMap(point => series.map(one => one.value(point))));
    const top = roundUp(most);

    PLOT.right = width - 8;
    const moving = make("g", {}, ...series.map(one => make(
        "path", {class: `series k${one.colour}`, d: linePath(one.value, top, now)})));
    const svg = make("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
                             "aria-label": `Clicks a second over the last two minutes: ` +
                                           `${rateText(points[points.length - 1].all)} now`},
                     make("defs", {}, make("clipPath", {id: "live-plot"}, make(
                         "rect", {x: PLOT.left, y: 0, width: PLOT.right - PLOT.left,
                                  height: HEIGHT}))),
                     ...drawGrid(top, width), make("g", {"clip-path": "url(#live-plot)"}, moving));

    place.replaceChildren(svg);
    if (!isCalm.matches && step > 0 && step < QUIET_MS)
        moving.animate([{transform: `translateX(${step * perMs()}px)`}, {transform: "none"}],
                       {duration: step, easing: "linear"});
}

function addPoint(state) {
    const at = Date.parse(state.at);
    const before = points.length ? points[points.length - 1].at : 0;
    const rates = (rows, name) => new Map(rows.map(row => [row[name], row.per_second]));

    if (state.clicks.per_second === null || at <= before)
        return;
    points = points.filter(point => at - point.at <= WINDOW_MS + QUIET_MS);
    points.push({at, all: state.clicks.per_second,
                 reseller: rates(state.clicks.resellers, "reseller_id"),
                 ad: rates(state.clicks.ads, "ad_id")});
    if (isCalm.matches && at - drawn < 2000)
        return;
    drawn = at;
    chart.hidden = false;
    draw(at - before);
}

/* The chart's figures, for those who do not see it. */
function putMeans() {
    const means = new Map();

    for (const point of points) {
        const until = Math.ceil(point.at / MEAN_MS) * MEAN_MS;
        const mean = means.get(until) ?? {sum: 0, count: 0};
        means.set(until, {sum: mean.sum + point.all, count: mean.count + 1});
    }
    const rows = [...means].reverse().slice(0, WINDOW_MS / MEAN_MS);
    chart.querySelector("tbody").replaceChildren(...rows.map(([until, mean]) => make(
        "tr", {}, make("th", {scope: "row"}, `${new Date(until).toISOString().slice(11, 19)} UTC`),
        make("td", {class: "n"}, rateText(mean.sum / mean.count)))));
}

/* ---- states ---- */

let said = 0;
let meant = 0;

function sayNowAndThen(state) {
    const now = performance.now();

    if (points.length > 0 && now - meant >= MEAN_MS) {
        meant = now;
        putMeans();
    }
    if (state.clicks.per_second !== null && now - said >= SAY_MS) {
        said = now;
        document.getElementById("live-said").textContent =
            `${rateText(state.clicks.per_second)} clicks a second, ` +
            `${thousands(state.today?.clicks ?? 0)} clicks today`;
    }
}

function putLists(state) {
    const {resellers, ads} = state.clicks;

    chooseColours("reseller", resellers.map(row => row.reseller_id));
    chooseColours("ad", ads.map(row => row.ad_id));
    putRows("live-resellers", resellers.map(row => [
        keyed("reseller", row.reseller_id), rateText(row.per_second), thousands(row.clicks)]));
    putRows("live-ads", ads.map(row => [
        keyed("ad", row.ad_id), rateText(row.per_second), thousands(row.clicks)]));
    putRows("live-codes", state.ingest.codes.map(row => [row.code, thousands(row.lines)]));
}

function putToday(today) {
    const why = document.getElementById("live-today").dataset.why;

    putRows("live-today", today.rows.map(row => {
        const query = new URLSearchParams({reseller: row.reseller_id, day: today.day});
        return [make("a", {href: `${why}?${query}`}, row.reseller_id), thousands(row.clicks),
                thousands(row.gross), row.rate === null ? NONE : percentText(row.rate),
                row.amount === null ? NONE : thousands(row.amount)];
    }));
}

function putWaiting(waiting) {
    const place = document.getElementById("live-waiting");

    place.hidden = waiting === null;
    if (waiting !== null)
        place.textContent = `The store waits: ${waiting.for}, for ${ageText(waiting.since_ms)}` +
            (waiting.stops_writes ? "; no clicks are taken." : ".");
}

let last = null;

/* A row that is used, by keyboard or to select its text, is not taken away. */
function isUsed(id) {
    const place = document.getElementById(id);
    return place.querySelector("tbody").contains(document.activeElement) ||
        (getSelection().type === "Range" && getSelection().containsNode(place, true));
}

function show(state) {
    last = state;
    for (const element of root.querySelectorAll("[data-live]"))
        putValue(element, state);
    putLists(state);
    if (state.today !== null && !isUsed("live-today"))
        putToday(state.today);
    putWaiting(state.ingest.waiting);
    addPoint(state);
    sayNowAndThen(state);
    if (state.ingest.accepted > 0)
        root.querySelector(".empty")?.remove();
}

/* ---- the stream ---- */

let stream = null;
let heard = 0;

function say(text, kind) {
    const place = document.getElementById("live-state");

    if (place.textContent !== text)
        place.replaceChildren(make("span", {class: `dot ${kind}`}), text);
}

function open() {
    close();
    heard = performance.now();
    stream = new EventSource(root.dataset.stream);
    stream.addEventListener("live", event => {
        heard = performance.now();
        say("Live", "on");
        show(JSON.parse(event.data));
    });
    stream.addEventListener("error", () => {
        say("The connection is lost; the figures are the last ones. It is tried again.", "off");
        if (stream.readyState === EventSource.CLOSED)
            setTimeout(follow, RETRY_MS);
    });
}

function close() {
    stream?.close();
    stream = null;
}

/* Watch while the page is seen. */
function follow() {
    if (document.hidden)
        close();
    else if (stream === null || stream.readyState === EventSource.CLOSED)
        open();
}

function look() {
    const quiet = performance.now() - heard;

    if (stream?.readyState === EventSource.OPEN && quiet > QUIET_MS)
        say(`Nothing was heard for ${ageText(quiet)}; the figures are the last ones.`, "off");
}

/* ---- choices ---- */

function choose(by) {
    chart.dataset.by = by;
    for (const link of chart.querySelectorAll(".choices a"))
        if (link.dataset.by === by)
            link.setAttribute("aria-current", "true");
        else
            link.removeAttribute("aria-current");
    if (points.length > 0)
        draw(0);
    if (last !== null)
        putLists(last);
}

chart.querySelector(".choices").addEventListener("click", event => {
    const link = event.target.closest("a");

    if (link === null || event.metaKey || event.ctrlKey || event.shiftKey)
        return;
    event.preventDefault();
    history.replaceState(null, "", link.href);
    document.dispatchEvent(new Event("daybook:moved"));
    choose(link.dataset.by);
});
document.addEventListener("visibilitychange", follow);
addEventListener("pagehide", close);
addEventListener("pageshow", follow);
choose(["reseller", "ad"].includes(chart.dataset.by) ? chart.dataset.by : "");
setInterval(look, 1000);
follow();
