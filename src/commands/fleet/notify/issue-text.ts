/**
 * The text of issues about drift, and of their comments: what drifted, who changed it and when, and the commands that revert or keep it.
 * Text from outside is escaped. Parts that do not fit are left out as a whole, and counted.
 */
import { createHash } from 'node:crypto';
import { counted } from '../../../model/quoted.ts';
import type { DriftJson } from '../../../report/json/drift-schema.ts';
import { block, fieldDiff } from '../../../report/markdown/changes.ts';
import {
  bytesOf,
  code,
  fitted,
  htmlCode,
  maxMarkdownBytes,
  type Section,
  sentence,
  tableRow,
  titleText,
} from '../../../report/markdown/escape.ts';

/** The label of all issues of fleets, by which they are found. */
export const issueLabel = 'trueup-drift';

/** A hidden line, the same for the same parts, by which issues and comments are found even if the database is lost. */
export function markerOf(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  return `<!-- trueup-fleet ${hash} -->`;
}

interface StackPlace {
  readonly repository: string;
  readonly path: string;
  readonly stack: string;
}

interface ShownDrift extends StackPlace {
  /** RFC 3339 */
  readonly opened: string;
  readonly report: DriftJson;
}

const maxTitle = 180;

export function stackTitle({ stack, repository, path }: StackPlace): string {
  return titleText(`Drift of stack ${stack} (${repository}/${path})`, maxTitle);
}

/** How people run trueup for a stack. */
interface StackCommands {
  readonly plan: string;
  readonly apply: string;
  readonly accept: string;
}

export function commandsFor(path: string): StackCommands {
  const folder = path.replace(/(^|\/)trueup\.yaml$/, '');
  const argument = folder === '' ? '' : ` ${shellWord(folder)}`;
  return {
    plan: `trueup plan${argument}`,
    apply: `trueup apply${argument}`,
    accept: `trueup accept${argument}`,
  };
}

/** Quotes the name of a folder for a shell: anybody may have named it, and people copy the command. */
function shellWord(text: string): string {
  const word = text.startsWith('-') ? `./${text}` : text;
  if (/^[\w./-]+$/.test(word)) return word;
  return /\p{Cc}/u.test(word)
    ? `$'${[...word].map((one) => (/[\w./-]/.test(one) ? one : escaped(one))).join('')}'`
    : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function escaped(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

/** Bytes of the lists, at most. The details get the rest. */
const shares = { table: 12_000, names: 6_000 };

/** The text of the issue of one stack, without its marker. */
export function stackBody({ repository, path, stack, opened, report }: ShownDrift): string {
  const { plan, apply, accept } = commandsFor(path);
  const before = [
    `**${driftCount(report)}** in stack ${code(stack)}, ${code(path)} of repository ${code(repository)}. First seen ${code(time(opened))}.`,
    fitted(tableOf(report), shares.table),
    fitted(namesOf(report), shares.names),
  ].filter(Boolean);
  const after = [
    [
      '### What to do',
      '',
      `- To take it back: ${code(plan)} shows the plan, and ${code(apply)} carries it out.`,
      `- To keep it: ${code(accept)} writes it into the manifests.`,
    ].join('\n'),
    'This issue follows the drift: it is edited when the drift changes, and closed when it is gone.',
  ];
  const used = [...before, ...after].reduce((sum, part) => sum + bytesOf(part) + 2, 0);
  const details = fitted(detailsOf(report), maxMarkdownBytes - used - 300);
  return [...before, ...(details === '' ? [] : [details]), ...after].join('\n\n');
}

/** `2 resources drifted, 1 name refers to another object` */
function driftCount({ summary }: Pick<DriftJson, 'summary'>): string {
  const { drifted, changedNames } = summary;
  const names = counted(
    changedNames,
    'name that refers to another object',
    'names that refer to other objects',
  );
  return [
    ...(drifted > 0 ? [`${counted(drifted, 'resource')} drifted`] : []),
    ...(changedNames > 0 ? [names] : []),
  ].join(', ');
}

type DriftedJson = DriftJson['drifted'][number];

function tableOf({ drifted, summary }: DriftJson): Section {
  return {
    before: [tableRow(['drift', 'resource', 'last modified']), tableRow(['---', '---', '---'])].join('\n'),
    blocks: drifted.map(({ is, address, touched }) =>
      tableRow([is, code(address), touchedLines(touched).join('<br>')]),
    ),
    between: '\n',
    left: (count) =>
      `**and ${count + summary.drifted - drifted.length} more that drifted**, which \`trueup drift\` lists`,
  };
}

/** Modifications that are listed; more are only counted. */
const maxTouches = 3;

/** Who modified a resource and when, as the audit trail says. */
function touchedLines(touched: DriftedJson['touched']): string[] {
  if (touched === undefined) return [];
  const { touches, unknown } = touched;
  const lines = touches.slice(0, maxTouches).map(({ at, actor, resource }) => {
    const { id, name, kind, impersonatorId } = actor;
    const who = name === '' ? id || kind : id === '' ? name : `${name} (${id})`;
    const behind = impersonatorId === undefined ? '' : `, impersonated by ${impersonatorId}`;
    return `${code(at)} by ${sentence(`${who}${behind}, ${resource.type} ${resource.action}`, 200)}`;
  });
  const left = touches.length - lines.length;
  return [
    ...lines,
    ...(left > 0 ? [`and ${left} more`] : []),
    ...(unknown === undefined
      ? []
      : [sentence(`${lines.length > 0 ? 'or others' : 'unknown'}: ${unknown}`, 200)]),
  ];
}

function namesOf({ changedNames, summary }: DriftJson): Section {
  return {
    heading: '### Names that refer to other objects',
    blocks: changedNames.map(({ address, message }) => `- ${code(address)}: ${sentence(message)}`),
    between: '\n',
    left: (count) =>
      `**and ${count + summary.changedNames - changedNames.length} more**, which \`trueup drift\` lists`,
  };
}

function detailsOf({ drifted, summary }: DriftJson): Section {
  return {
    heading: '### Details',
    blocks: drifted.map(detailsOfOne),
    between: '\n\n',
    left: (count) => `**and ${count + summary.drifted - drifted.length} more**, which \`trueup drift\` lists`,
  };
}

function detailsOfOne({ is, address, id = '', newId = '', fields, notes }: DriftedJson): string {
  const identity = {
    changed: [],
    gone: [`applied as ${code(id)}, and no longer there`],
    recreated: [`another one has its name now: ${code(id)} was applied, ${code(newId)} is live`],
  }[is];
  const body = [
    ...identity,
    ...block(fieldDiff({ action: 'update', fields: fields.map(fieldOf) }), 'diff'),
    ...notes.slice(0, 10).map((note) => `- note: ${sentence(note)}`),
  ];
  return [`<details><summary>${is} ${htmlCode(address)}</summary>`, ...body, '</details>'].join('\n\n');
}

function fieldOf({ path, names = [], ...field }: DriftedJson['fields'][number]) {
  const pathOf = (pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { both: _, ...rest } = field;
  return {
    ...rest,
    path: pathOf(path),
    names: names.map(({ at, ...sides }) => ({ ...sides, at: pathOf(at) })),
  };
}

function time(text: string): string {
  return text.replace(/\.\d+Z$/, 'Z');
}

// Comments on issues.

export function changedComment(drift: ShownDrift): string {
  return `The drift changed: ${driftCount(drift.report)} now. The text above has it.`;
}

export function backComment(drift: ShownDrift): string {
  return `Drift is back since ${code(time(drift.opened))}: ${driftCount(drift.report)}. The text above has it.`;
}

export function goneComment(end: { readonly at: string; readonly because: string } | undefined): string {
  if (end?.because === 'removed') return 'The stack is not in its repository any more.';
  return end === undefined
    ? 'The drift is gone.'
    : `The drift is gone: the check of ${code(time(end.at))} found none.`;
}

// Messages about many stacks, and about targets.

interface Member extends StackPlace {
  readonly resources: number;
  readonly opened: string;
}

export function digestTitle(members: readonly unknown[]): string {
  return `Drift of ${counted(members.length, 'stack')} at once`;
}

export function digestBody(members: readonly Member[]): string {
  const rows: Section = {
    before: [
      tableRow(['stack', 'file', 'resources', 'first seen', 'show the plan']),
      tableRow(['---', '---', '---', '---', '---']),
    ].join('\n'),
    blocks: members.map(({ repository, path, stack, resources, opened }) =>
      tableRow([
        ...[code(stack), code(`${repository}/${path}`), String(resources), code(time(opened))],
        code(commandsFor(path).plan),
      ]),
    ),
    between: '\n',
    left: (count) => `**and ${count} more**, which \`trueup fleet status\` lists`,
  };
  return [
    `**${counted(members.length, 'stack')}** began to drift at once, so this issue has them all.`,
    fitted(rows, maxMarkdownBytes - 1_500),
    '`trueup plan` shows how to take it back, and `trueup apply` carries it out. `trueup accept` keeps it.',
  ].join('\n\n');
}

export const digestGone = 'The drift of all these stacks is gone, or has an issue of its own.';

export function targetTitle(address: string): string {
  return titleText(`Target ${address} is paused`, maxTitle);
}

export function targetBody(address: string, reason: string): string {
  return [
    `Several stacks of target ${code(address)} failed in the same way, and none of them succeeded meanwhile. Their checks are paused. One check now and then shows whether it is back.`,
    `The last of them said: ${sentence(reason)}`,
  ].join('\n\n');
}

export const targetBack = 'The target answers again. Its stacks are checked again, a few at first.';
