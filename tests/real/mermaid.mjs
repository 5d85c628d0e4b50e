// Parses diagrams with Mermaid: node mermaid.mjs FILE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const peers = process.env.MCPREEL_REAL_PEERS;
const require = createRequire(join(peers, "package.json"));
// Mermaid cleans labels with a document.
const { JSDOM } = require("jsdom");
const { window } = new JSDOM("");
Object.assign(globalThis, { window, document: window.document });
const path = join(peers, "node_modules/mermaid/dist/mermaid.core.mjs");
const { default: mermaid } = await import(pathToFileURL(path));

for (const file of process.argv.slice(2)) {
  try {
    const { diagramType } = await mermaid.parse(readFileSync(file, "utf8"));
    console.log(`${diagramType}: ${file}`);
  } catch (error) {
    console.error(file, error.message);
    process.exitCode = 1;
  }
}
