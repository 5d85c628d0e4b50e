#!/usr/bin/env node
// Starts the program of this platform's package. It gets the same stdin, stdout and stderr, so its bytes do not pass
// through this process.
'use strict';

const { constants } = require('node:os');
const { isatty } = require('node:tty');

const platform = `${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`@mcpreel/${platform}/bin/mcpreel`);
  } catch {
    process.stderr.write(
      `error: the package @mcpreel/${platform} is not installed\n` +
        'hint: there are packages for linux-x64 and linux-arm64 with glibc. If this is one of them, install mcpreel again ' +
        'without --omit=optional.\n',
    );
    process.exit(1);
  }
}

// The program replaces this process: nothing stands between it and the caller.
function replace(path, args) {
  // Node would print that this function is experimental.
  process.removeAllListeners('warning');
  process.execve(path, [path, ...args], process.env);
}

// Older versions of Node cannot replace their process: this one waits, and passes signals on.
function supervise(path, args) {
  const child = require('node:child_process').spawn(path, args, { stdio: 'inherit' });
  const forwarded = ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGCONT'];
  // Ctrl+C in a terminal reaches the program anyway.
  const typed = ['SIGINT', 'SIGQUIT'];
  const has_terminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));
  for (const signal of typed) process.on(signal, () => has_terminal || child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`error: cannot start ${path}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    // This process ends as the program did.
    [...forwarded, ...typed].forEach((name) => process.removeAllListeners(name));
    process.exitCode = 128 + constants.signals[signal];
    process.kill(process.pid, signal);
  });
}

(process.execve ? replace : supervise)(program(), process.argv.slice(2));
