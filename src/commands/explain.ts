/**
 * `trueup explain [name]`: prints the reference of an error code, a finding of doctor, a guard, a kind or a field; or where the values
 * of a resource come from. Only the latter reads a stack, offline.
 */
import { Argument, type Command } from 'commander';
import { quoted } from '../model/quoted.ts';
import { addressMembers, diagnosticsMember, placeMember, renderJson } from '../report/json/render-json.ts';
import {
  addExamples,
  type Candidate,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  withCandidates,
  stackHelp,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { type CommandContext, printJson, type Terminal } from '../run/terminal.ts';
import { renderResource, renderTerm, renderTerms } from './explain-render.ts';
import { allTerms, findTerm, nearestTerm } from './explain-terms.ts';
import { explainResource } from './explain-values.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .addArgument(
      withCandidates(
        new Argument(
          '[name]',
          'an error code, a finding of doctor, an exit code, a guard, a kind, a field such as Workspace.executionMode, or a resource such as Workspace/acme/app',
        ),
        (current) => namesFor(current, host.kinds),
      ),
    )
    .argument('[path]', `for a resource: ${stackHelp}`)
    .addOption(formatOption())
    .action(async (name: string | undefined, path: string | undefined, options: CommonOptions) => {
      end(await explain(name, path, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup explain', 'list what can be explained'],
    ['trueup explain unknown-field', 'an error code: what it means and what to do'],
    ['trueup explain takeover', 'a guard: what trips it and what to check'],
    ['trueup explain 7', 'an exit code: when it occurs and what to do'],
    ['trueup explain Workspace', 'the fields of a kind'],
    ['trueup explain Stack.targets.url', 'a field: type, default, what null does'],
    ['trueup explain Workspace/acme/app', 'a resource: where each of its values is written'],
  );
}

/** Offers fields only after a dot, because there are many. Undefined for an address, which is completed from the stack. */
function namesFor(current: string, kinds: CliHost['kinds']): Candidate[] | undefined {
  if (current.includes('/')) return undefined;
  const terms = allTerms(kinds);
  if (!current.includes('.')) return terms.map(({ name, title }) => ({ value: name, about: title }));
  const fields = terms.flatMap((term) => (term.about === 'kind' ? term.fields : []));
  return fields.map(({ name, description }) => ({ value: name, about: description }));
}

async function explain(
  name: string | undefined,
  path: string | undefined,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  if (name !== undefined && isAddress(name, host.kinds)) {
    const resource = await explainResource(name, path, host);
    const { address, values, children } = resource;
    const shown = values.map(({ path: at, value, origin, place }) => ({
      path: at.join('.'),
      value,
      origin,
      ...placeMember(place),
      ...(place.list === undefined ? {} : { list: placeMember(place.list).place }),
    }));
    const answer = { resource: { ...addressMembers(address), values: shown, children } };
    return print(terminal.host.clean(answer), renderResource(resource, layoutOf(terminal)), terminal);
  }
  if (path !== undefined)
    throw new CommandStop(
      'usage',
      `${quoted(name ?? '')} is not the address of a resource: a path is allowed only with an address`,
    );
  const terms = allTerms(host.kinds);
  if (name === undefined) {
    const listed = terms.map(({ about, name: each, title }) => ({ about, name: each, title }));
    return print({ terms: listed }, renderTerms(terms, layoutOf(terminal)), terminal);
  }
  const term = findTerm(name, terms);
  if (term === undefined) {
    const near = nearestTerm(name, terms);
    const hint =
      near === undefined ? 'run "trueup explain" to list the names' : `did you mean ${quoted(near)}?`;
    throw new CommandStop('unknown-term', `there is nothing to explain under ${quoted(name)}: ${hint}`);
  }
  return print({ term }, renderTerm(term, layoutOf(terminal)), terminal);
}

/** `Workspace/acme/app`: the part before the first slash is a kind. */
function isAddress(name: string, kinds: CliHost['kinds']): boolean {
  return name.includes('/') && kinds.has(name.split('/', 1)[0] ?? '');
}

function print(answer: object, text: string, terminal: Terminal): ExitCode {
  if (terminal.format === 'json')
    printJson(terminal, (reported) => renderJson({ version: 1, ...answer, ...diagnosticsMember(reported) }));
  else terminal.host.stdout.write(`${text}\n`);
  return exitCodes.done;
}

/** Long lines are hard to read, so a wide terminal is not filled. */
const widest = 100;

function layoutOf({ paint, width = 80 }: Terminal) {
  return { paint, width: Math.min(width, widest) };
}
