// What may keep a notebook from running in this browser, said in a sentence at the page's top.
"use strict";
{
  const shown = new Set();

  // As it is on the screen: JupyterLite's own File > Download gives what could be stored.
  const download = () => {
    const context = globalThis.jupyterapp?.shell.currentWidget?.context;
    if (!context) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(context.model.toJSON(), null, 1)]));
    link.download = context.path.split("/").pop();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  };

  const say = (sentence, loses = false) => {
    if (shown.has(sentence)) return;
    shown.add(sentence);
    const notice = document.createElement("p");
    notice.setAttribute("role", "alert");
    notice.textContent = sentence;
    notice.style.cssText = "position: relative; z-index: 10000; margin: 0; padding: 10px 16px;"
      + "background: #fff4d6; color: #222; border-bottom: 3px solid #b35900; font: 16px/1.5 sans-serif";
    if (loses) {
      const button = document.createElement("button");
      button.textContent = "Download this notebook as it is now";
      button.style.cssText = "margin-left: 10px; font: inherit";
      button.addEventListener("click", download);
      notice.append(button);
    }
    const put = () => document.body.prepend(notice);
    document.body ? put() : addEventListener("DOMContentLoaded", put);
  };

  const elsewhere = "The notebook opens on your own machine or on Binder just as well; its page can be read in any browser.";
  if (typeof WebAssembly !== "object")
    say(`This browser has no WebAssembly, which Python needs to run in it. ${elsewhere}`);
  else if (!navigator.serviceWorker)
    say("This browser lets no service worker run here (a private window, perhaps). The notebook runs, but your progress "
      + "is forgotten when the page is closed.", true);
  const keepsNothing = () => say("This browser keeps nothing for this page (a private window, or blocked site data, perhaps). "
    + "The notebook runs, and what you write is gone when the page is closed.", true);
  try {
    const trial = indexedDB.open("mha-trial"); // where site data are blocked, it is there, and refuses
    trial.onerror = keepsNothing;
    trial.onsuccess = () => {
      trial.result.close();
      indexedDB.deleteDatabase("mha-trial");
    };
  } catch {
    keepsNothing();
  }

  // JupyterLite tells the console alone that something could not be stored.
  const unkept = error => error && say(
    `This browser does not keep what you change now: its storage is full or refused (${error.name}). Download the notebook `
    + "to keep it; then make room, and reload the page.", true);
  const {put} = globalThis.IDBObjectStore?.prototype ?? {};
  if (put)
    IDBObjectStore.prototype.put = function (...what) {
      this.transaction.addEventListener("abort", () => unkept(this.transaction.error));
      try {
        return put.apply(this, what);
      } catch (error) {
        unkept(error);
        throw error;
      }
    };

  // Seen once, on a busy machine: nothing failed, and Python never began. Nor is anything said where its files don't come.
  const waits = setInterval(() => {
    const panel = globalThis.jupyterapp?.shell.currentWidget?.sessionContext;
    if (["idle", "busy"].includes(panel?.session?.kernel?.status)) clearInterval(waits);
    else if (panel)
      say(`Python has not started yet. On a slow network it may still come; else reload the page to try again. ${elsewhere}`);
  }, globalThis.mhaPatience ?? 120_000);

  addEventListener("unhandledrejection", ({reason}) => {
    const said = String(reason?.message ?? reason);
    if (/pyodide|wasm|WebAssembly/i.test(`${said} ${reason?.stack}`))
      say(`Python did not start in this browser: ${said} Reload the page to try again. ${elsewhere}`);
  });
}
