// The notebooks that this browser keeps: read whole, saved before the page goes, and the course's newer version offered.
"use strict";
{
  const versions = JSON.parse(document.currentScript.dataset.versions); // by name, as `contents.version` computes them
  const site = new URL("files/", document.currentScript.src);
  let app;

  // Files that Jupyter has written to a disk, and a visitor brings along, have texts as lists of lines. JupyterLite
  // leaves them so, and shows commas between them.
  const whole = value => Array.isArray(value) && value.every(line => typeof line === "string") ? value.join("") : value;
  const join = notebook => {
    for (const cell of notebook.cells) {
      cell.source = whole(cell.source);
      for (const output of cell.outputs ?? []) {
        if ("text" in output) output.text = whole(output.text);
        for (const [type, value] of Object.entries(output.data ?? {}))
          if (!type.endsWith("json")) output.data[type] = whole(value);
      }
    }
  };

  // Null where the page is not served by https: a browser computes it on such pages alone.
  const version = async notebook => {
    const text = notebook.cells.map(cell => cell.source).join("\0");
    const digest = await globalThis.crypto?.subtle?.digest("SHA-256", new TextEncoder().encode(text));
    return digest ? [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, "0")).join("") : null;
  };

  const shownAt = path => [...app.shell.widgets("main")].find(({context}) => context?.path === path);

  const freeName = async path => {
    const {contents} = app.serviceManager;
    for (let number = 1; ; number++) {
      const name = path.replace(/\.ipynb$/, ` (mine${number > 1 ? ` ${number}` : ""}).ipynb`);
      if (!await contents.get(name, {content: false}).catch(() => null)) return name; // it refuses what is not there
    }
  };

  const setAside = async (path, newer) => {
    const {contents} = app.serviceManager, {context} = shownAt(path);
    await context.save(); // asks, if another tab has changed it
    const save = (name, content) => contents.save(name, {type: "notebook", format: "json", content});
    await save(await freeName(path), context.model.toJSON());
    await save(path, newer);
    location.reload();
  };

  // What JupyterLite reads is this browser's copy, if there is one, however old.
  const current = async (path, notebook) => {
    const began = notebook.metadata.course?.version;
    if (!began || !Object.hasOwn(versions, path) || began === versions[path]) return notebook;
    const answer = await fetch(new URL(path, site), {cache: "no-cache"});
    if (!answer.ok) return notebook;
    const newer = await answer.json();
    if (await version(notebook) === began) return newer; // it has been run, perhaps, and nobody has written in it
    mhaSay(`The course has a newer version of ${path}. This is yours, as you left it.`,
      ["Open the newer one, and keep mine beside it as “(mine)”", () => setAside(path, newer)], ["Not now"]);
    return notebook;
  };

  const started = () => {
    const {contents} = app.serviceManager, read = contents.get.bind(contents), write = contents.save.bind(contents);
    contents.get = async (path, options) => {
      const file = await read(path, options);
      if (file.type !== "notebook" || !file.content) return file;
      join(file.content);
      return {...file, content: await current(path, file.content)};
    };
    contents.save = async (path, options) => {
      const file = await write(path, options);
      const context = options?.type === "notebook" && shownAt(path)?.context;
      // JupyterLab takes the notebook for saved when it is done, with what has been typed meanwhile.
      const completed = (_, state) => {
        context.saveState.disconnect(completed);
        if (JSON.stringify(context.model.toJSON()) !== JSON.stringify(options.content)) context.model.dirty = true;
      };
      if (context) context.saveState.connect(completed);
      return file;
    };
  };
  // JupyterLite sets it before it reads a file.
  Object.defineProperty(globalThis, "jupyterapp", {get: () => app, set: given => { app = given; started(); }});

  // A phone stops the clock of a page that is not seen, and may drop it.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden || !app) return;
    for (const {context} of app.shell.widgets("main")) if (context?.model?.dirty) context.save();
  });
}
