/**
 * Everything that can be explained, by the name that users type: error codes, guards, kinds and their fields. The texts are those
 * of the catalogue, the guards and the schemas.
 */
import {
  describeDocument,
  describeKinds,
  type FieldDescription,
} from '../manifest/schema/describe-fields.ts';
import type { CodeEntry } from '../model/code-entry.ts';
import { type CodeGroup, codeGroups, type DiagnosticCode } from '../model/diagnostic-codes.ts';
import { type BuiltInGuard, guardDefaults } from '../model/guard.ts';
import { guardTexts } from '../model/guard-texts.ts';
import type { Registry } from '../model/kind.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { policySchema } from '../policies/schema.ts';
import { exitCodeMeanings, exitCodesOfErrors } from '../run/exit-code-meanings.ts';
import { findingMeanings } from '../run/finding-meanings.ts';

export type Term = CodeTerm | GuardTerm | FindingTerm | KindTerm | FieldTerm | ExitCodeTerm;

type ListedTerm = Exclude<Term, FieldTerm | ExitCodeTerm>;

export interface ExitCodeTerm {
  readonly about: 'exit-code';
  readonly name: string;
  readonly title: string;
  readonly when: string;
  readonly fix: string;
}

export interface CodeTerm extends Pick<CodeEntry, 'title' | 'fix'> {
  readonly about: 'code';
  readonly name: string;
  readonly severity: 'error' | 'warning';
  readonly classes: readonly string[];
  /** its group in the catalogue of codes */
  readonly group: string;
  /** when it occurs, as a clause */
  readonly when: string;
  /** only if it differs from the exit code of the class */
  readonly exit?: number;
}

/** A finding of `doctor`. One with the id of a code is explained by the code. */
export interface FindingTerm {
  readonly about: 'finding';
  readonly name: string;
  readonly title: string;
  readonly fix: string;
}

export interface GuardTerm {
  readonly about: 'guard';
  readonly name: string;
  readonly title: string;
  readonly effect: 'blocks' | 'warns';
  readonly trips: string;
  readonly more?: readonly string[];
  /** "spec.guards.allow" does not make it warn */
  readonly isFixed?: true;
  readonly check: string;
}

export interface KindTerm {
  readonly about: 'kind';
  readonly name: string;
  readonly title: string;
  readonly fields: readonly FieldTerm[];
}

export interface FieldTerm extends FieldDescription {
  readonly about: 'field';
  /** `Workspace.executionMode`, `Workspace.metadata.protect` */
  readonly name: string;
  /** the names of the fields directly below */
  readonly members: readonly string[];
}

/** Codes, guards, kinds and findings, each in the order of its reference; fields are in their kinds. */
export function allTerms(kinds: Registry): readonly ListedTerm[] {
  const codes = codeGroups.flatMap((group) =>
    Object.entries(group.codes).map(([name, entry]) => codeTerm(name, group, entry)),
  );
  const guards = Object.entries(guardDefaults).map(
    ([name, effect]): GuardTerm => ({ about: 'guard', name, effect, ...guardTexts[name as BuiltInGuard] }),
  );
  const described = [...describeKinds(kinds), describeDocument('Policy', policySchema)].map(
    ({ name, summary, fields }): KindTerm => ({
      about: 'kind',
      name,
      title: summary,
      fields: fields.map((field) => fieldTerm(name, field, fields)),
    }),
  );
  const known = new Set(codes.map(({ name }) => name));
  const findings = Object.entries(findingMeanings)
    .filter(([name]) => !known.has(name))
    .map(([name, { title, fix }]): FindingTerm => ({ about: 'finding', name, title, fix }));
  return [...described, ...guards, ...codes, ...findings];
}

function codeTerm(name: string, { title: group, when }: CodeGroup, entry: CodeEntry): CodeTerm {
  const { title, fix, warning } = entry;
  const exit = exitCodesOfErrors[name as DiagnosticCode];
  const severity = warning ? 'warning' : 'error';
  const about = {
    about: 'code',
    name,
    title,
    severity,
    classes: [entry.class].flat(),
    group,
    when,
    fix,
  } as const;
  return exit === undefined ? about : { ...about, exit };
}

function fieldTerm(kind: string, field: FieldDescription, all: readonly FieldDescription[]): FieldTerm {
  const below = all.filter(({ path }) => parentOf(path) === field.path);
  return {
    about: 'field',
    name: nameOf(kind, field.path),
    members: below.map(({ path }) => nameOf(kind, path)),
    ...field,
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

/** `spec` is left out, because almost every field is below it. */
function nameOf(kind: string, path: string): string {
  return `${kind}.${path.replace(/^spec\./, '')}`;
}

/** The exit code, or the term with this name. Ignores upper and lower case, and `spec.` after the kind. */
export function findTerm(word: string, terms: readonly ListedTerm[]): Term | undefined {
  const exit = exitCodeMeanings.find(({ code }) => String(code) === word);
  if (exit !== undefined) {
    const { title, when, fix } = exit;
    return { about: 'exit-code', name: word, title, when, fix };
  }
  const wanted = normalized(word);
  return withFields(terms).find((term) => normalized(term.name) === wanted);
}

/** The name that is most similar to a word without a term. */
export function nearestTerm(word: string, terms: readonly ListedTerm[]): string | undefined {
  const names = withFields(terms).map(({ name }) => name);
  const ending = names.find((name) => normalized(name).endsWith(`.${normalized(word)}`));
  return ending ?? nearestWord(word, names);
}

function normalized(name: string): string {
  return name.toLowerCase().replace(/^([^.]*)\.spec\./, '$1.');
}

function withFields(terms: readonly ListedTerm[]): readonly Term[] {
  return terms.flatMap((term): readonly Term[] => (term.about === 'kind' ? [term, ...term.fields] : [term]));
}
