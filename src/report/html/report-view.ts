/**
 * What the page of a report shows, as JSON: made by `plan.ts`, read by `page/`. Every text is printable and none is markup; in
 * a sentence, names and commands are between quotes.
 */
import type { Action } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';

export interface ReportView {
  /** the words before the name */
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
  /** found, allowed, fix, and what to see besides */
  readonly members: readonly (readonly [label: string, text: string])[];
  /** the line of the file, and what is meant below it */
  readonly excerpt?: readonly string[];
}

export interface PlanView {
  readonly digest: string;
  readonly counts: readonly { readonly action: Action; readonly symbol: string; readonly count: number }[];
  readonly unchanged: number;
  readonly next: string;
  /** why the look was incomplete */
  readonly reasons: readonly string[];
  readonly limits: readonly NamedText[];
  /** the command that lets the guards pass */
  readonly acknowledge?: string;
  readonly guards: readonly GuardView[];
  readonly risks: readonly RiskList[];
  /** by risk */
  readonly changes: readonly ChangeView[];
  /** by position: a change, one that waits for it, and so on */
  readonly waits: readonly number[];
  readonly graph: GraphView;
  readonly mentions: readonly NamedText[];
  readonly coverage: readonly CoverageView[];
}

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** One or more guards about the same resources. */
export interface GuardView {
  /** whether one of them does */
  readonly blocks: boolean;
  readonly guards: readonly { readonly id: string; readonly blocks: boolean; readonly message: string }[];
  /** addresses of resources of which they say no more */
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

export interface ChangeView {
  readonly action: Action;
  readonly kind: string;
  readonly target: string;
  readonly name: string;
  readonly reason: string;
  readonly place?: string;
  readonly id?: string;
  readonly fields: readonly FieldLines[];
  readonly risks?: readonly { readonly effect: string; readonly text: string }[];
  readonly notes?: readonly string[];
  readonly touched?: readonly string[];
  readonly calls?: readonly CallView[];
  readonly sharedCall?: string;
}

export interface FieldLines {
  readonly name: string;
  /** each after `+ `, `- ` or two spaces */
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

/** Laid out already; coordinates are whole numbers. */
export interface GraphView {
  readonly width: number;
  readonly height: number;
  /** a node is all changes of one action, kind and target, or without the target */
  readonly grouped: boolean;
  readonly nodes: readonly GraphNodeView[];
  readonly edges: readonly GraphEdgeView[];
}

/** What stands in a box of the graph. */
export interface GraphBox {
  readonly action: Action;
  readonly label: string;
  readonly detail: string;
  /** what it stands for in the table: a change, or a filter of changes */
  readonly change?: number;
  readonly group?: { readonly kind: string; readonly target?: string };
}

export interface GraphNodeView extends GraphBox {
  /** the middle */
  readonly x: number;
  readonly y: number;
}

export interface GraphEdgeView {
  readonly from: number;
  readonly to: number;
  /** x, y, x, y of the points that it goes through between its nodes */
  readonly through: readonly number[];
}

/** The size of a box of the graph: the layout and the drawing must mean the same. */
export const nodeSize = { width: 272, height: 50 };
