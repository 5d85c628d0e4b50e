// Makes the npm packages: `mcpreel`, a launcher, and `@mcpreel/PLATFORM`, which contains the program and is an optional
// dependency of the launcher, so that npm installs only the one for its platform.
//
//   node packaging/npm/build.mjs PROGRAM NOTICE OUTPUT
//
// Makes OUTPUT/mcpreel-VERSION.tgz and OUTPUT/mcpreel-PLATFORM-VERSION.tgz. The launcher depends on the packages of all
// platforms in PLATFORMS; each is made on its own platform.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PLATFORMS = ['linux-x64', 'linux-arm64'];

const [program, notice, output] = process.argv.slice(2).map((path) => resolve(path));
const root = resolve(import.meta.dirname, '../..');
const field = (name) => readFileSync(join(root, 'Cargo.toml'), 'utf8').match(new RegExp(`^${name} = "(.*)"$`, 'm'))[1];
const shared = { version: field('version'), description: field('description'), license: field('license') };
const platform = `${process.platform}-${process.arch}`;
if (!PLATFORMS.includes(platform)) throw new Error(`there is no package for ${platform}, only for ${PLATFORMS.join(', ')}`);

const work = mkdtempSync(join(tmpdir(), 'mcpreel-npm-'));
try {
  const [os, cpu] = platform.split('-');
  pack(
    { name: `@mcpreel/${platform}`, ...shared, os: [os], cpu: [cpu], libc: ['glibc'], preferUnplugged: true },
    { 'bin/mcpreel': program, 'THIRD-PARTY-LICENSES.txt': notice },
  );
  pack(
    {
      name: 'mcpreel',
      ...shared,
      bin: { mcpreel: 'bin/mcpreel.js' },
      engines: { node: '>=18' },
      optionalDependencies: Object.fromEntries(PLATFORMS.map((name) => [`@mcpreel/${name}`, shared.version])),
    },
    { 'bin/mcpreel.js': join(root, 'packaging/npm/mcpreel.js'), 'README.md': join(root, 'packaging/README.md') },
  );
} finally {
  rmSync(work, { recursive: true });
}

function pack(description, files) {
  const folder = join(work, description.name.replace('/', '-'));
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
  for (const licence of ['LICENSE-MIT', 'LICENSE-APACHE']) cpSync(join(root, licence), join(folder, licence));
  for (const [name, from] of Object.entries(files)) cpSync(from, join(folder, name));
  for (const name of Object.keys(files)) if (name.startsWith('bin/')) chmodSync(join(folder, name), 0o755);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', output], { cwd: folder, stdio: 'inherit' });
}
