/* What the view Query has in addition: Ctrl+Enter runs the statement, as in consoles. */

document.addEventListener("keydown", (event) => {
    if (event.target.id !== "query" || event.key !== "Enter") return;
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    event.target.form.requestSubmit();
});
