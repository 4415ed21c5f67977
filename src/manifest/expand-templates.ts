/**
 * Replaces each document with `metadata.each` by the documents that it makes. The files of lists are read here, under the rules
 * of manifests, and count as files of the stack. Loaded only where a document is a template.
 */
import { dirname, extname, resolve } from 'node:path';
import type { MissingFiles } from '../model/checkout.ts';
import { type Diagnostic, incomplete } from '../model/diagnostic.ts';
import { memberOf, type Path } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import { namedVariables } from './check-secret-sources.ts';
import { displayPath, findRepository, type Repository, standardInput } from './files/find-stack.ts';
import { missingProblems, TrackedFiles } from './files/tracked-files.ts';
import { type PrivateFile, privateFiles } from './files/private-files.ts';
import { readText } from './files/read-text.ts';
import type { Loaded, LoadInput } from './load-documents.ts';
import { findHidden } from './yaml/hidden-parts.ts';
import { parseDocuments } from './yaml/parse-documents.ts';
import { type SecretNames, secretNames } from './yaml/secret-fields.ts';
import {
  createSourceText,
  isTemplate,
  placeIn,
  type SourceText,
  type YamlDocument,
} from './yaml/yaml-document.ts';
import { CsvFile, wrongList } from './templates/csv-file.ts';
import { type ItemList, YamlList } from './templates/list-items.ts';
import {
  combinationsOf,
  countOf,
  type EachLists,
  eachPath,
  namedFiles,
  readEach,
  wrongItems,
} from './templates/read-each.ts';
import { type MadeFromTemplate, Template, type TextBudget } from './templates/template.ts';

/** How many documents templates make at most. More are refused before the first is made. */
const maxMade = 100_000;

/** How many expressions are replaced at most, in all documents together. */
const maxReplaced = 20_000_000;

/** How many characters all documents have at most. A command that prints them all needs about five times as many bytes. */
const maxCharacters = 200_000_000;

type ExpandInput = Pick<
  LoadInput,
  'cwd' | 'drafts' | 'readIndex' | 'readIgnored' | 'onSecretVariables' | 'kinds'
>;

/** The loaded documents with each template replaced, the files of lists, and the problems of both. */
export async function expandTemplates(loaded: Loaded, input: ExpandInput): Promise<Loaded> {
  const names = secretNames(input.kinds);
  const files = new ListFiles(loaded, { ...input, names });
  await files.findPrivate(loaded.documents.filter(isTemplate));
  const budget = { made: 0, replaced: 0, text: { used: 0, max: maxCharacters } };
  const expanded: Expanded[] = [];
  for (const document of loaded.documents)
    expanded.push(
      isTemplate(document)
        ? await expand(document, { files, budget, kinds: input.kinds })
        : { documents: [document], diagnostics: [] },
    );
  const made = expanded.flatMap(({ documents }) => documents);
  input.onSecretVariables?.(namedVariables('', made, { names, isWhole: true }));
  const { documents, diagnostics } = withoutLists(made, files.paths, input.cwd);
  const missing = await files.missing();
  const paths = loaded.paths ?? [];
  const more = files.paths.filter((path) => !paths.includes(path));
  return {
    ...loaded,
    documents,
    documentsInFiles: loaded.documents.length,
    files: loaded.files + more.length,
    paths: [...paths, ...more],
    lists: files.paths,
    listTexts: files.sources,
    missing: mergeMissing(loaded.missing, missing?.files),
    diagnostics: [
      ...loaded.diagnostics,
      ...(missing?.problems ?? []),
      ...expanded.flatMap((one) => one.diagnostics),
      ...diagnostics,
    ],
  };
}

interface Expanded {
  readonly documents: readonly YamlDocument[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ExpandContext {
  readonly files: ListFiles;
  readonly kinds: Registry;
  /** what all templates together have made, and replaced */
  readonly budget: { made: number; replaced: number; readonly text: TextBudget };
}

async function expand(document: YamlDocument, { files, budget, kinds }: ExpandContext): Promise<Expanded> {
  const template = new Template(document, kinds);
  const lists = await readEach(document, (file, path) => files.read(file, { document, path }));
  const wrong = [...template.wrong, ...(Array.isArray(lists) ? lists : [])];
  if (Array.isArray(lists) || wrong.length > 0) return { documents: [], diagnostics: wrong };
  const tooMany = checkCount(template, lists as EachLists, budget);
  if (tooMany !== undefined) return { documents: [], diagnostics: [tooMany] };
  // The problem was reported for the template that used the budget up.
  if (isUsedUp(budget.text)) return { documents: [], diagnostics: [] };
  const documents: MadeFromTemplate[] = [];
  // One mistake in an item shows in each document that is made with it.
  const problems = new Map<string, Diagnostic>();
  for (const combination of combinationsOf(lists as EachLists)) {
    const made = template.make(combination, budget.text);
    if (isUsedUp(budget.text)) return { documents: [], diagnostics: [tooLong(template)] };
    if (Array.isArray(made))
      for (const one of made) problems.set(JSON.stringify([one.message, one.place]), one);
    else documents.push(made as MadeFromTemplate);
  }
  return { documents, diagnostics: [...problems.values()] };
}

function checkCount(
  template: Template,
  lists: EachLists,
  budget: ExpandContext['budget'],
): Diagnostic | undefined {
  const count = countOf(lists);
  const made = budget.made + count;
  const { expressions } = template;
  const replaced = budget.replaced + count * expressions;
  if (made <= maxMade && replaced <= maxReplaced) {
    Object.assign(budget, { made, replaced });
    return undefined;
  }
  const before = budget.made === 0 ? '' : `, beside the ${budget.made} of other templates`;
  const what =
    made > maxMade
      ? `${count} documents${before}; at most ${maxMade} are allowed`
      : `${count} documents with ${expressions} expressions each${before}; at most ${maxReplaced} expressions are replaced`;
  return tooMuch(template, what);
}

function isUsedUp({ used, max }: TextBudget): boolean {
  return used > max;
}

function tooLong(template: Template): Diagnostic {
  const millions = maxCharacters / 1_000_000;
  return {
    ...tooMuch(template, `documents of more than ${millions} million characters, with those before`),
    fix: 'shorten the texts that each document has, or the lists, or divide the stack',
  };
}

function tooMuch({ document }: Template, what: string): Diagnostic {
  return {
    code: 'too-many-resources',
    severity: 'error',
    class: 'invalid',
    message: `the lists of "metadata.each" make ${what}`,
    place: placeIn(document, eachPath, 'key'),
    fix: 'shorten the lists, or divide the stack',
  };
}

/** Leaves out the documents of files that are lists: a pattern may match both. */
function withoutLists(documents: readonly YamlDocument[], lists: readonly string[], cwd: string): Expanded {
  const files = new Set(lists);
  const isOfList = ({ source }: YamlDocument) => files.size > 0 && files.has(resolve(cwd, source.file));
  const diagnostics = documents.flatMap((document) => {
    const isBoth =
      isOfList(document) &&
      ['apiVersion', 'kind'].some((name) => memberOf(document.value, name) !== undefined);
    return isBoth
      ? [
          wrongList(
            `${quoted(document.source.file)} is named as a list by "metadata.each", and holds a manifest`,
            placeIn(document, []),
            'put the list into a file of its own',
          ),
        ]
      : [];
  });
  return { documents: documents.filter((document) => !isOfList(document)), diagnostics };
}

type ListInput = ExpandInput & { readonly names: SecretNames };

/** Reads each file once, and notes what the checkout lacks of them. */
class ListFiles {
  readonly #input: ListInput;
  readonly #directory: string;
  readonly #tracked: TrackedFiles | undefined;
  readonly #read = new Map<string, Promise<ItemList | readonly Diagnostic[]>>();
  readonly sources: SourceText[] = [];
  #first: { readonly document: YamlDocument; readonly path: Path } | undefined;
  #repository: Promise<Repository> | undefined;
  #private: ReadonlyMap<string, PrivateFile> = new Map();

  constructor({ directory }: Loaded, input: ListInput) {
    this.#input = input;
    this.#directory = directory ?? resolve(input.cwd);
    this.#tracked =
      input.readIndex === undefined ? undefined : new TrackedFiles(input.readIndex, this.#directory);
  }

  /** absolute, in the order in which they were first named */
  get paths(): readonly string[] {
    return [...this.#read.keys()];
  }

  /** Finds the files that cannot be lists. It is called before any list is read, so that git is asked about all files together. */
  async findPrivate(templates: readonly YamlDocument[]): Promise<void> {
    const files = templates.flatMap((document) =>
      namedFiles(document).map((path) => this.#absolute(path, document)),
    );
    if (files.length === 0) return;
    const { readIgnored } = this.#input;
    const repository = await this.#home();
    this.#private = await privateFiles(files, { repository, tracked: this.#tracked, readIgnored });
  }

  /** @param path relative to the file of the document; to the stack for a document on standard input */
  async read(
    path: string,
    at: { readonly document: YamlDocument; readonly path: Path },
  ): Promise<ItemList | readonly Diagnostic[]> {
    const absolute = this.#absolute(path, at.document);
    this.#first ??= at;
    const reading = this.#read.get(absolute) ?? this.#readFile(absolute);
    this.#read.set(absolute, reading);
    const list = await reading;
    if (!Array.isArray(list)) return list;
    const place = placeIn(at.document, at.path);
    return list.map((problem: Diagnostic) => (problem.place === undefined ? { ...problem, place } : problem));
  }

  /** The files that a partial checkout lacks; undefined if nothing is known, or no file was read. */
  async missing(): Promise<
    { readonly files: MissingFiles; readonly problems: readonly Diagnostic[] } | undefined
  > {
    const files = this.#first === undefined ? undefined : await this.#tracked?.missing();
    if (files === undefined || this.#first === undefined) return undefined;
    return { files, problems: missingProblems(files, placeIn(this.#first.document, this.#first.path)) };
  }

  #absolute(path: string, { source: { file } }: YamlDocument): string {
    const folder = file === standardInput ? this.#directory : dirname(resolve(this.#input.cwd, file));
    return resolve(folder, path);
  }

  #home(): Promise<Repository> {
    this.#repository ??= findRepository(this.#directory);
    return this.#repository;
  }

  async #readFile(absolute: string): Promise<ItemList | readonly Diagnostic[]> {
    const { cwd, drafts, names } = this.#input;
    const file = displayPath(absolute, cwd);
    const hidden = this.#private.get(absolute);
    if (hidden !== undefined) return [privateListProblem(file, hidden)];
    const isWanted = (path: string) => path === absolute;
    await this.#tracked?.notePath(absolute, { isFile: isWanted, isEntered: () => true, mayHold: () => true });
    const text =
      drafts?.get(absolute) ?? (await readText(absolute, { file, repository: await this.#home() }));
    if (typeof text !== 'string') return [text];
    if (text.trim() === '')
      return [
        {
          ...incomplete('empty-list', `${quoted(file)} is empty: it may have been cut off`),
          fix: 'write a list into it; an empty one is "[]", or the header of a CSV file',
        },
      ];
    const source = createSourceText(file, text, (whole) => findHidden(whole, names));
    const list = extname(absolute) === '.csv' ? await CsvFile.read(source, names) : readYaml(source);
    if (!Array.isArray(list)) this.sources.push((list as ItemList).source);
    else this.sources.push(source);
    return list;
  }
}

/** The problem has no place: the caller adds the place in the template. */
function privateListProblem(file: string, found: PrivateFile): Diagnostic {
  const code = 'private-list';
  if (typeof found === 'object')
    return {
      ...incomplete(code, `git cannot tell whether it ignores the list ${quoted(file)}: ${found.why}`),
      fix: 'let git read this repository: a list that it ignores is not read',
    };
  const [message, fix] =
    found === 'state'
      ? [
          `${quoted(file)} lies in a folder ".trueup", where trueup keeps private files`,
          'put the list into another folder',
        ]
      : [
          `git ignores ${quoted(file)}, and commands print what a list holds`,
          'put the list into a file that git tracks',
        ];
  return { code, severity: 'error', class: 'invalid', message, fix };
}

function readYaml(source: SourceText): ItemList | readonly Diagnostic[] {
  const { documents, diagnostics } = parseDocuments(source);
  if (diagnostics.length > 0) return diagnostics;
  const [document, second] = documents;
  if (second !== undefined)
    return [
      wrongList(
        `${quoted(source.file)} holds several documents`,
        placeIn(second, []),
        'write one list into the file',
      ),
    ];
  if (document === undefined)
    return [
      wrongList(
        `${quoted(source.file)} holds no list`,
        source.place(0, 1),
        'write a list into it; an empty one is "[]"',
      ),
    ];
  const list = new YamlList(document, [], document.value);
  const wrong = wrongItems(list);
  return wrong.length > 0 ? wrong : list;
}

function mergeMissing(
  one: MissingFiles | undefined,
  other: MissingFiles | undefined,
): MissingFiles | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const both = (name: 'leftOut' | 'submodules' | 'moved' | 'vanished') =>
    [...new Set([...one[name], ...other[name]])].sort();
  const unknown = one.unknown ?? other.unknown;
  return {
    leftOut: both('leftOut'),
    submodules: both('submodules'),
    moved: both('moved'),
    vanished: both('vanished'),
    ...(unknown === undefined ? {} : { unknown }),
  };
}
