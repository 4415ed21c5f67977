/** The version with the facts that a report of a bug needs. */
import { builtFrom } from './built-from.ts';
import type { CliHost } from './host.ts';

export function verboseVersion({ version, machine }: CliHost): string {
  const { node, platform } = machine();
  return [
    `trueup ${version}`,
    `commit    ${builtFrom ?? 'unknown'}`,
    `node      ${node}`,
    `platform  ${platform}`,
  ].join('\n');
}
