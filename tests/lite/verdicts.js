// Run Python in Node, on the edition's own Pyodide: `node verdicts.js PYODIDE DATA CODE`; what CODE ends with is printed.
"use strict";
const [folder, data, code] = process.argv.slice(2);
const {loadPyodide} = require(`${folder}/pyodide.js`);

(async () => {
  const pyodide = await loadPyodide({indexURL: folder, packages: ["numpy", "attention-doctor", "mha_helpers"], stdout: () => {}});
  const beside = "/lib/python3.12/site-packages/mha_helpers/data"; // in the page they are fetched
  pyodide.FS.mkdir(beside);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, {root: data}, beside);
  console.log(await pyodide.runPythonAsync(code));
})().catch(error => {
  console.error(error);
  process.exit(1);
});
