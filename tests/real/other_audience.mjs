// Loaded into the TypeScript SDK's demonstration server with `node --import`: the tokens in the file OTHER_AUDIENCE
// (all, if it contains *) count as issued for another server. The demonstration's own authorization server cannot issue
// such tokens, and for tokens that it does not know, it answers 500.
import { existsSync, readFileSync } from 'node:fs';

const ask = globalThis.fetch;

function isForAnother(token) {
    const file = process.env.OTHER_AUDIENCE;
    const others = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return others === '*' || (others !== '' && others === token);
}

globalThis.fetch = async (place, options) => {
    const response = await ask(place, options);
    const token = new URLSearchParams(options?.body).get('token');
    if (!response.ok || !isForAnother(token)) return response;
    return Response.json({ ...(await response.json()), aud: 'http://localhost:1/mcp' });
};
