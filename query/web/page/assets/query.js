/* query: runs the statement by Ctrl+Enter, as consoles do. */

const box = document.querySelector("#query");

box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        box.form.requestSubmit();
    }
});
