// Validates HAR files against the HAR 1.2 schemas of the package har-schema: node har.mjs FILE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const peers = process.env.MCPREEL_REAL_PEERS;
const require = createRequire(join(peers, "package.json"));
const validate = require("har-validator");

for (const file of process.argv.slice(2)) {
  try {
    await validate.har(JSON.parse(readFileSync(file, "utf8")));
    console.log(`valid: ${file}`);
  } catch (error) {
    console.error(file, JSON.stringify(error.errors ?? String(error)));
    process.exitCode = 1;
  }
}
