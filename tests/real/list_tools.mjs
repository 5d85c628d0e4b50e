// The TypeScript SDK as a client that only lists tools and calls one: `node list_tools.mjs URL TOOL ARGUMENTS`.
// The SDK is in the folder that MCPREEL_REAL_PEERS names (see install.sh).

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [url, tool, args] = process.argv.slice(2);
const sdk = (path) =>
  import(
    pathToFileURL(resolve(process.env.MCPREEL_REAL_PEERS, "node_modules/@modelcontextprotocol/sdk/dist/esm", path)).href
  );
const { Client } = await sdk("client/index.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");

const client = new Client({ name: "mcpreel-real-oauth", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
console.log(`${tools.some((known) => known.name === tool)} ${result.content[0].text}`);
await client.close();
