/* Charts that one can zoom: a button beside a chart draws it again by dygraphs, out of the table
 * that stands below it.  A chart is made for it by data-zoom: the columns of the table that are
 * drawn, counted from 0, and "stacked" if they add up.
 *
 * Drag to zoom, double-click to see everything; on the keyboard + and - zoom, and the arrows move.
 * The period that is seen can be taken over into the form, and so into the address. */

const base = new URL("..", import.meta.url);
const DAY_MS = 86400000;
let loading;

function load() {
    loading ??= new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL("assets/dygraph.min.js", base);
        script.onload = () => resolve(window.Dygraph);
        script.onerror = reject;
        document.head.append(script);
    });
    return loading;
}

/* 2013-W48 begins on its Monday; the week of 4 January is the first of its year. */
function mondayOf(year, week) {
    const fourth = new Date(`${year}-01-04`);
    return new Date(+fourth + DAY_MS * (7 * (week - 1) - (fourth.getUTCDay() + 6) % 7));
}

/* The clock of the table is taken for UTC, in which everything is drawn: what one sees does not
 * depend on where one is. */
function timeOf(label) {
    const week = /^(\d{4})-W(\d\d)$/.exec(label);
    return week ? mondayOf(week[1], week[2]) : new Date(label.replace(/(T\d\d:\d\d).*/, "$1Z"));
}

/* The last day of a period. */
function lastDayOf(label) {
    const time = timeOf(label);
    if (label.includes("W")) return new Date(+time + 6 * DAY_MS);
    return label.length > 7 ? time : new Date(time.setUTCMonth(time.getUTCMonth() + 1) - DAY_MS);
}

/* Digits with commas; what is no number (an unpriced day) is 0. */
function numberOf(text) {
    return Number(text.replaceAll(",", "").replace("\u2212", "-")) || 0;
}

function readTable(figure) {
    const [list, form] = figure.dataset.zoom.split(" ");
    const columns = list.split(",").map(Number);
    let place = figure;
    while (place && !place.querySelector("table")) place = place.nextElementSibling;
    const table = place.querySelector("table");
    const pick = (row) => [0, ...columns].map((column) => row.cells[column]);
    const cells = [...table.tBodies[0].rows].map(pick).reverse();
    return {
        cells,
        labels: pick(table.tHead.rows[0]).map((cell) => cell.textContent),
        rows: cells.map(([first, ...others]) => [
            timeOf(first.textContent), ...others.map((cell) => numberOf(cell.textContent)),
        ]),
        stacked: form === "stacked",
    };
}

function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* What one points at, as the table has it; without a row, what the colours mean. */
function tell(legend, classes, labels, cells) {
    legend.replaceChildren(cells ? `${cells[0].textContent} ` : "");
    labels.slice(1).forEach((label, number) => {
        const key = document.createElement("span");
        key.className = `key ${classes[number]}`;
        legend.append(key, cells ? `${label} ${cells[number + 1].textContent} ` : `${label} `);
    });
}

function dayText(time) {
    return time.toISOString().slice(0, 10);
}

function addButton(place, text, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = text;
    button.addEventListener("click", action);
    place.append(" ", button);
    return button;
}

function moveByKeys(event, graph) {
    const [from, to] = graph.xAxisRange();
    const width = to - from;
    const moves = {
        "+": [width / 4, -width / 4], "=": [width / 4, -width / 4], "-": [-width / 2, width / 2],
        "ArrowLeft": [-width / 4, -width / 4], "ArrowRight": [width / 4, width / 4],
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [first, last] = graph.xAxisExtremes();
    graph.updateOptions({
        dateWindow: [Math.max(first, from + move[0]), Math.min(last, to + move[1])],
    });
}

/* The form of the view with the days of the periods that are seen, each of them whole, but no day
 * beyond those that were chosen. */
function takeOver(graph, labels) {
    const form = document.querySelector("form.fields");
    const [from, to] = graph.xAxisRange();
    const first = labels.findLast((label) => timeOf(label) <= from) ?? labels[0];
    const last = labels.findLast((label) => timeOf(label) <= to) ?? first;
    const chosen = form.elements.to.value, end = dayText(lastDayOf(last));
    const begin = dayText(timeOf(first));
    if (form.elements.from.value < begin) form.elements.from.value = begin;
    form.elements.to.value = chosen && chosen < end ? chosen : end;
    form.requestSubmit();
}

function draw(Dygraph, figure) {
    const { rows, labels, cells, stacked } = readTable(figure);
    const classes = stacked ? ["unpriced", "rest", "share"].slice(1 - labels.length)
                            : ["first", "second"];
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const region = figure.querySelector(".scroll");
    const place = document.createElement("div");
    place.className = "zoomed";
    const legend = document.createElement("p");
    legend.className = "legend";
    tell(legend, classes, labels);
    region.replaceChildren(place);
    region.before(legend);
    /* Its legend has inline styles, and its range selector an inline image: the page allows
     * neither. */
    const { Legend, RangeSelector } = Dygraph.Plugins;
    Dygraph.PLUGINS = Dygraph.PLUGINS.filter((one) => one !== Legend && one !== RangeSelector);
    const graph = new Dygraph(place, rows, {
        labels,
        labelsUTC: true,
        stackedGraph: stacked,
        fillGraph: stacked,
        stepPlot: stacked,
        strokeWidth: 1.5,
        fillAlpha: 0.7,
        colors: classes.map((name) => colour(`--${name}`)),
        axisLineColor: colour("--line"),
        gridLineColor: colour("--line"),
        animatedZooms: !still,
        includeZero: true,
        highlightCallback: (event, x, points, row) => tell(legend, classes, labels, cells[row]),
        unhighlightCallback: () => tell(legend, classes, labels),
    });
    region.addEventListener("keydown", (event) => moveByKeys(event, graph));
    const periods = cells.map(([first]) => first.textContent);
    addButton(figure.querySelector("figcaption"), "Show only this period",
              () => takeOver(graph, periods));
    region.focus();
}

function prepare() {
    for (const figure of document.querySelectorAll("figure[data-zoom]")) {
        const caption = figure.querySelector("figcaption");
        if (caption.querySelector("button")) continue;
        const button = addButton(caption, "Zoom", async () => {
            button.disabled = true;
            try {
                draw(await load(), figure);
                button.remove();
            } catch {
                button.disabled = false;
            }
        });
    }
}

document.addEventListener("daybook:shown", prepare);
prepare();
