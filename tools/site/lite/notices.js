// What may keep a notebook from running in this browser, said in a sentence at the page's top.
"use strict";
{
  const shown = new Set();

  const say = sentence => {
    if (shown.has(sentence)) return;
    shown.add(sentence);
    const notice = document.createElement("p");
    notice.setAttribute("role", "alert");
    notice.textContent = sentence;
    notice.style.cssText = "position: relative; z-index: 10000; margin: 0; padding: 10px 16px;"
      + "background: #fff4d6; color: #222; border-bottom: 3px solid #b35900; font: 16px/1.5 sans-serif";
    const put = () => document.body.prepend(notice);
    document.body ? put() : addEventListener("DOMContentLoaded", put);
  };

  const elsewhere = "The notebook opens on your own machine or on Binder just as well; its page can be read in any browser.";
  if (typeof WebAssembly !== "object")
    say(`This browser has no WebAssembly, which Python needs to run in it. ${elsewhere}`);
  else if (!navigator.serviceWorker)
    say("This browser lets no service worker run here (a private window, perhaps). The notebook runs, but your progress "
      + "is forgotten when the page is closed. Use File > Download to keep the notebook.");
  try {
    if (!indexedDB) throw new Error();
  } catch {
    say("This browser keeps nothing for this page (a private window, perhaps). Use File > Download to keep your work.");
  }

  // JupyterLite tells the console alone that something could not be stored.
  const unkept = error => error && say(
    `This browser does not keep what you change now: its storage is full or refused (${error.name}). Use File > Download `
    + "to keep an open notebook; then make room, and reload the page.");
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

  addEventListener("unhandledrejection", ({reason}) => {
    const said = String(reason?.message ?? reason);
    if (/pyodide|wasm|WebAssembly/i.test(`${said} ${reason?.stack}`))
      say(`Python did not start in this browser: ${said} Reload the page to try again. ${elsewhere}`);
  });
}
