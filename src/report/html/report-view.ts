/**
 * What the page of a report shows, as JSON: made by `plan.ts` and `drift.ts`, read by `page/`. Every text is printable and none is markup.
 * In a sentence, names and commands are between quotes.
 */
import type { Action } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';

export interface ReportView {
  /** the text before the name */
  readonly title: string;
  /** the stack */
  readonly name?: string;
  /** what the report is about: when it was made, from which commit, for which targets */
  readonly facts?: readonly FactView[];
  readonly summary: string;
  readonly statements: readonly Statement[];
  readonly problems: readonly ProblemView[];
  readonly plan?: PlanView;
}

export interface FactView {
  readonly label: string;
  readonly text: string;
  /** an https address */
  readonly href?: string;
}

export interface Statement {
  readonly tone: Tone;
  readonly text: string;
}

type Tone = 'danger' | 'warning' | 'plain';

export interface ProblemView {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly spot?: string;
  /** found, allowed, fix, and related places */
  readonly members: readonly (readonly [label: string, text: string])[];
  /** the line of the file, and below it the underline */
  readonly excerpt?: readonly string[];
}

/** A plan, or drift, which has the same table. */
export interface PlanView {
  /** absent for drift */
  readonly digest?: string;
  /** the texts for drift; absent for a plan */
  readonly words?: DriftWords;
  readonly counts: readonly CountView[];
  readonly unchanged: number;
  readonly next: string;
  /** why the read was incomplete */
  readonly reasons: readonly string[];
  readonly limits: readonly NamedText[];
  /** the command that acknowledges the guards */
  readonly acknowledge?: string;
  readonly guards: readonly GuardView[];
  readonly risks: readonly RiskList[];
  /** sorted by risk */
  readonly changes: readonly ChangeView[];
  /** pairs of positions: a change, then one that depends on it */
  readonly waits: readonly number[];
  /** absent for drift */
  readonly graph?: GraphView;
  readonly notices: readonly NamedText[];
  readonly coverage: readonly CoverageView[];
}

/** The texts of drift that replace those of a plan. */
interface DriftWords {
  readonly changes: string;
  readonly unchanged: string;
  /** after "The read was incomplete" */
  readonly incomplete: string;
  readonly notices: string;
  /** the first column */
  readonly action: string;
  /** the last column */
  readonly where: string;
}

interface CountView extends ActionView {
  readonly symbol: string;
  readonly count: number;
}

/** What happens, or happened, to a resource. */
export interface ActionView {
  /** an action of a plan, or a word for drift */
  readonly action: string;
  /** the action whose colour it has; absent for an action of a plan */
  readonly tone?: Action;
}

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** One or more guards about the same resources. */
export interface GuardView {
  /** whether one of them blocks */
  readonly blocks: boolean;
  readonly guards: readonly {
    readonly id: string;
    readonly effect: 'blocks' | 'warns' | 'denies';
    readonly message: string;
  }[];
  /** addresses of resources without a message */
  readonly names: readonly string[];
}

export interface RiskList {
  readonly title: string;
  readonly tone: Tone;
  /** the filter that finds all of them in the table */
  readonly filter?: { readonly action: Action } | { readonly words: string };
  readonly items: readonly RiskItem[];
}

export interface RiskItem extends NamedText {
  /** its position among the changes */
  readonly change?: number;
  /** sentences about what a removal takes away */
  readonly losses?: readonly string[];
}

export interface ChangeView extends ActionView {
  readonly kind: string;
  readonly target: string;
  readonly name: string;
  readonly reason: string;
  readonly place?: string;
  readonly id?: string;
  readonly fields: readonly FieldLines[];
  readonly risks?: readonly { readonly effect: string; readonly text: string }[];
  readonly notes?: readonly string[];
  readonly lastModified?: readonly string[];
  readonly calls?: readonly CallView[];
  readonly sharedCall?: string;
}

export interface FieldLines {
  readonly name: string;
  /** each begins with `+ `, `- ` or two spaces */
  readonly lines: readonly string[];
  readonly remarks?: string;
}

export interface CallView {
  readonly method: string;
  readonly path: string;
  /** as in the plan's JSON */
  readonly body?: Json;
  readonly terms: string;
}

interface CoverageView {
  readonly label: string;
  readonly details: readonly string[];
  readonly incomplete: readonly string[];
}

/** Already laid out; coordinates are integers. */
export interface GraphView {
  readonly width: number;
  readonly height: number;
  /** whether each node represents all changes of one action and kind, usually in one target */
  readonly grouped: boolean;
  readonly nodes: readonly GraphNodeView[];
  readonly edges: readonly GraphEdgeView[];
}

/** The content of a node. */
export interface GraphBox {
  readonly action: Action;
  readonly label: string;
  readonly detail: string;
  /** its change in the table, or the filter that finds its group */
  readonly change?: number;
  readonly group?: { readonly kind: string; readonly target?: string };
}

export interface GraphNodeView extends GraphBox {
  /** the centre */
  readonly x: number;
  readonly y: number;
}

export interface GraphEdgeView {
  readonly from: number;
  readonly to: number;
  /** x, y, x, y of the points that it goes through between its nodes */
  readonly through: readonly number[];
}

/** The size of a node, shared by layout and drawing. */
export const nodeSize = { width: 272, height: 50 };
