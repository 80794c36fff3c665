// What may keep a notebook from running in this browser, said in a sentence at the page's top.
"use strict";
{
  const shown = new Set();
  const opened = () => globalThis.jupyterapp?.shell.currentWidget?.context;
  let keeps = true;

  // As it is on the screen: JupyterLite's own File > Download gives what could be stored.
  const download = () => {
    const context = opened();
    if (!context) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(context.model.toJSON(), null, 1)]));
    link.download = context.path.split("/").pop();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  };
  const DOWNLOAD = ["Download this notebook as it is now", download];

  // Where it can't be saved, JupyterLab says so, and the page stays.
  const reload = async () => {
    await opened()?.save();
    location.reload();
  };
  const again = () => keeps ? ["Save, and try again", reload] : DOWNLOAD;

  // Show a sentence with buttons, each a label and what it does (without, it takes the notice away). Returned is what
  // takes it away; nothing where it is shown already.
  const say = (sentence, ...buttons) => {
    if (shown.has(sentence)) return;
    shown.add(sentence);
    const notice = document.createElement("p");
    const away = () => {
      notice.remove();
      shown.delete(sentence);
    };
    notice.setAttribute("role", "alert");
    notice.textContent = sentence;
    notice.style.cssText = "position: relative; z-index: 10000; margin: 0; padding: 10px 16px;"
      + "background: #fff4d6; color: #222; border-bottom: 3px solid #b35900; font: 16px/1.5 sans-serif";
    for (const [label, act = away] of buttons) {
      const button = document.createElement("button");
      button.textContent = label;
      button.style.cssText = "margin-left: 10px; font: inherit";
      button.addEventListener("click", act);
      notice.append(button);
    }
    const put = () => document.body.prepend(notice);
    document.body ? put() : addEventListener("DOMContentLoaded", put);
    return away;
  };
  globalThis.mhaSay = say;

  const elsewhere = "The notebook opens on your own machine or on Binder just as well; its page can be read in any browser.";
  if (typeof WebAssembly !== "object")
    say(`This browser has no WebAssembly, which Python needs to run in it. ${elsewhere}`);
  else if (!navigator.serviceWorker)
    say("This browser lets no service worker run here (a private window, perhaps). The notebook runs, but your progress "
      + "is forgotten when the page is closed.", DOWNLOAD);
  const keepsNothing = () => {
    keeps = false;
    say("This browser keeps nothing for this page (a private window, or blocked site data, perhaps). "
      + "The notebook runs, and what you write is gone when the page is closed.", DOWNLOAD);
  };
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
    + "to keep it, or make room and save it again.", DOWNLOAD);
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
    const session = opened()?.sessionContext;
    if (!session) return;
    clearInterval(waits);
    const runs = () => ["idle", "busy"].includes(session.session?.kernel?.status);
    if (runs()) return;
    const away = say(`Python has not started yet. On a slow network it may still come. ${elsewhere}`, again());
    session.statusChanged.connect(() => runs() && away());
  }, globalThis.mhaPatience ?? 120_000);

  addEventListener("unhandledrejection", ({reason}) => {
    const said = String(reason?.message ?? reason);
    if (/pyodide|wasm|WebAssembly/i.test(`${said} ${reason?.stack}`))
      say(`Python did not start in this browser: ${said} ${elsewhere}`, again());
  });
}
