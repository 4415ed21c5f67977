/** One term of the reference, or the list of all terms, for a terminal. */
import { formatAddress } from '../model/address.ts';
import type { Place } from '../model/diagnostic.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import {
  flow,
  inColumn,
  indent,
  labelled,
  nameColumn,
  pad,
  type Paint,
  wrap,
} from '../report/text/layout.ts';
import { exitCodes } from '../run/exit-codes.ts';
import type {
  CodeTerm,
  ExitCodeTerm,
  FieldTerm,
  FindingTerm,
  GuardTerm,
  KindTerm,
  Term,
} from './explain-terms.ts';
import type { ExplainedResource, ExplainedValue } from './explain-values.ts';

interface Layout {
  readonly paint: Paint;
  readonly width: number;
}

export function renderTerm(term: Term, layout: Layout): string {
  switch (term.about) {
    case 'code':
      return codeText(term, layout);
    case 'finding':
      return findingText(term, layout);
    case 'guard':
      return guardText(term, layout);
    case 'kind':
      return kindText(term, layout);
    case 'field':
      return fieldText(term, layout);
    case 'exit-code':
      return exitCodeText(term, layout);
  }
}

/** Labels of equal width, each followed by its wrapped text. */
function facts(
  rows: readonly (readonly [label: string, text: string | undefined])[],
  { paint, width }: Layout,
): string {
  const shown = rows.filter(([, text]) => text !== undefined);
  const column = Math.max(...shown.map(([label]) => label.length)) + 2;
  return shown
    .flatMap(([label, text = '']) =>
      labelled(pad(label, column), text, width).map((line, index) =>
        index === 0 ? paint.dim(line.slice(0, column)) + line.slice(column) : line,
      ),
    )
    .join('\n');
}

/** A first line, then paragraphs with empty lines between them. */
function page(title: string, parts: readonly string[], { paint }: Layout): string {
  return [paint.bold(title), ...parts.filter((part) => part !== '')].join('\n\n');
}

const exitOfClass: Readonly<Record<string, number>> = {
  invalid: exitCodes.invalid,
  conflict: exitCodes.conflict,
};

function codeText({ name, severity, title, classes, when, fix, exit }: CodeTerm, layout: Layout): string {
  const exits = classes.map((each) => `${each} (exit code ${exit ?? exitOfClass[each] ?? exitCodes.error})`);
  return page(
    `${name} (${severity})`,
    [
      wrap(`${title}.`, layout.width).join('\n'),
      facts(
        [
          ['class', severity === 'error' ? exits.join(' or ') : classes.join(' or ')],
          ['occurs', when],
          ['fix', fix],
        ],
        layout,
      ),
    ],
    layout,
  );
}

function exitCodeText({ name, title, when, fix }: ExitCodeTerm, layout: Layout): string {
  const rows = [
    ['occurs', when],
    ['fix', fix],
  ] as const;
  return page(`exit code ${name}: ${title}`, [facts(rows, layout)], layout);
}

function findingText({ name, title, fix }: FindingTerm, layout: Layout): string {
  const rows = [
    ['occurs', 'in the report of "trueup doctor"'],
    ['fix', fix],
  ] as const;
  return page(`${name} (finding)`, [wrap(`${title}.`, layout.width).join('\n'), facts(rows, layout)], layout);
}

function guardText(
  { name, effect, title, trips, more = [], check, isFixed }: GuardTerm,
  layout: Layout,
): string {
  const isBlocking = effect === 'blocks';
  const effectText = isBlocking ? 'blocks apply until it is acknowledged' : 'warns, and apply continues';
  const list = quoted(`spec.guards.${isBlocking ? 'allow' : 'raise'}: [${name}]`);
  const approve = `trueup apply --approve DIGEST --ack ${name}`;
  return page(
    `${name} (guard)`,
    [
      wrap(`${title}.`, layout.width).join('\n'),
      ...[trips, ...more].map((text) => wrap(text, layout.width).join('\n')),
      facts(
        [
          ['effect', effectText],
          ['check', check],
          ['acknowledge', isBlocking ? approve : `where it blocks: ${approve}`],
          ['', isBlocking ? `trueup apply plan.json --ack ${name}` : undefined],
          ['', isBlocking ? `in CI: trueup approve plan.json --ack ${name}` : undefined],
          ['', isBlocking ? `or the label trueup-ack/${name} on the pull request` : undefined],
          [
            'in the stack',
            isFixed === true ? undefined : `${list} makes it ${isBlocking ? 'only warn' : 'block'}`,
          ],
        ],
        layout,
      ),
    ],
    layout,
  );
}

function kindText({ name, title, fields }: KindTerm, layout: Layout): string {
  return page(
    name,
    [
      wrap(`${title}.`, layout.width).join('\n'),
      `Fields:\n${fieldList(fields, layout)}`,
      `Run ${quoted(`trueup explain ${name}.FIELD`)} for one of them.`,
    ],
    layout,
  );
}

const widestName = 40;

function fieldList(fields: readonly Pick<FieldTerm, 'path' | 'type'>[], { width }: Layout): string {
  const names = fields.map(({ path }) => path.replace(/^spec\./, ''));
  const column = Math.min(widestName, Math.max(...names.map((name) => name.length))) + 2;
  return fields
    .flatMap(({ type }, index) => {
      const name = names[index] ?? '';
      const lines = wrap(type, width - column - 2);
      if (name.length > widestName) return [`  ${name}`, ...indent(lines, column + 2)];
      return [`  ${pad(name, column)}${lines[0] ?? ''}`, ...indent(lines.slice(1), column + 2)];
    })
    .join('\n');
}

function fieldText(term: FieldTerm, layout: Layout): string {
  const { name, path, type, values, description, examples, members } = term;
  return page(
    name,
    [
      wrap(description, layout.width).join('\n'),
      facts(
        [
          ['field', path],
          ['type', type],
          ['format', term.format],
          ['values', values.length === 0 ? undefined : values.join(', ')],
          ['default', term.default],
          ['null', term.null ?? 'not allowed'],
          [
            'example',
            examples.length === 0 ? undefined : examples.map((value) => exampleText(path, value)).join(', '),
          ],
          ['note', term.createOnly ? 'used only when the resource is created' : undefined],
          ['note', term.deprecated ? 'deprecated' : undefined],
          ['members', members.length === 0 ? undefined : members.join(', ')],
        ],
        layout,
      ),
    ],
    layout,
  );
}

/** `branch: main`, as it is written in YAML. */
function exampleText(path: string, value: Json): string {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return `${name}: ${flowText(value)}`;
}

/** YAML flow style, with spaces, so that a long value can be wrapped. */
function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${key}: ${flowText(member)}`);
  return `{ ${members.join(', ')} }`;
}

/** The names of kinds, guards, codes and findings. */
export function renderTerms(terms: readonly Term[], { paint, width }: Layout): string {
  const section = (heading: string, note: string, isListed: (term: Term) => boolean) => {
    const names = terms.filter(isListed).map(({ name }) => name);
    return `${paint.bold(heading)}${note}:\n${indent(flow(names, ', ', width - 2), 2).join('\n')}`;
  };
  const groups = new Set(terms.flatMap((term) => (term.about === 'code' ? [term.group] : [])));
  return [
    section(
      'Kinds',
      ' (fields as KIND.FIELD, such as Workspace.executionMode)',
      ({ about }) => about === 'kind',
    ),
    section(
      'Guards',
      ' (most of them stop apply until they are acknowledged)',
      ({ about }) => about === 'guard',
    ),
    ...[...groups].map((group) =>
      section(`Codes: ${group}`, '', (term) => term.about === 'code' && term.group === group),
    ),
    section('Findings', ' of "trueup doctor"', ({ about }) => about === 'finding'),
    'Run "trueup explain NAME" for one of them, or with an exit code, such as 7.',
  ].join('\n\n');
}

const origins: Readonly<Record<ExplainedValue['origin'], string>> = {
  document: '',
  template: ' (the template)',
  list: ' (the list)',
  defaults: ' (defaults of the stack)',
};

/** The values of a resource for a terminal, each with the file and line where it is written. */
export function renderResource(
  { address, values, children }: ExplainedResource,
  { paint }: { readonly paint: Paint },
): string {
  const rows = values.map((one) => ({ name: one.path.join('.'), text: JSON.stringify(one.value), one }));
  const names = nameColumn(rows.map(({ name }) => name));
  const texts = nameColumn(rows.map(({ text }) => text));
  const lines = rows.map(
    ({ name, text, one }) => `  ${inColumn(name, names)}${inColumn(text, texts)}${paint.dim(placeText(one))}`,
  );
  const others = children.length === 0 ? [] : ['', `Short forms in its document: ${children.join(', ')}`];
  return [paint.bold(formatAddress(address)), '', ...lines, ...others].join('\n');
}

function placeText({ place, origin }: ExplainedValue): string {
  const { list } = place;
  const at = (one: Place) => `${one.file}:${one.line}`;
  return list === undefined
    ? `${at(place)}${origins[origin]}`
    : `${at(list)}${origins.list}, ${at(place)}${origins.template}`;
}
