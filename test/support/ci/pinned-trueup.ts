/** A checkout that pins trueup in `tools/trueup`, as in the guide: `npm ci` installs it from the lock file and without a network. */
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { mainFile } from '../cli/process.ts';
import { writeFiles } from '../rig/temporary-folder.ts';

/** The pinned package starts the program that the tests run. */
export function pinTrueup(checkout: string): void {
  const pin = join(checkout, 'tools', 'trueup');
  const manifest = (content: object) => JSON.stringify({ private: true, ...content });
  writeFiles(pin, {
    'package.json': manifest({ name: 'pin', dependencies: { trueup: 'file:package' } }),
    'package/package.json': manifest({ name: 'trueup', version: '0.0.0', bin: { trueup: 'trueup.sh' } }),
    'package/trueup.sh': `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`,
    '.gitignore': '*\n',
  });
  chmodSync(join(pin, 'package', 'trueup.sh'), 0o755);
  npm(pin, 'install', '--package-lock-only');
}

function npm(cwd: string, ...args: readonly string[]): void {
  const env = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false' };
  execFileSync('npm', ['--offline', ...args], { cwd, env, stdio: 'pipe' });
}
