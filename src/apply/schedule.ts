/**
 * Runs nodes of a graph as soon as they may run. Needs are dependencies: when one fails, what hangs on it is skipped and
 * everything else goes on. Order numbers of one lane are barriers: they only wait. Every node ends with an ending.
 */

export interface Node {
  readonly id: string;
  /** nodes that run against one target; each lane has its own concurrency and its own barriers */
  readonly lane: string;
  readonly order: number;
  readonly needs: readonly string[];
}

export type Ending = 'ok' | 'failed' | 'skipped';

export interface ScheduleOptions<N extends Node> {
  /** how many nodes of one lane may run at once */
  readonly concurrency: number;
  /** must not reject: what it cannot do is `failed` */
  perform(node: N): Promise<Ending>;
  /** told of nodes that are skipped because something they need did not end well */
  skipped(node: N, because: string): void;
}

/** @throws when nothing can run although nodes are left: a cycle that the planner should have refused */
export async function schedule<N extends Node>(
  nodes: readonly N[],
  options: ScheduleOptions<N>,
): Promise<void> {
  const run = new Run(nodes, options);
  await run.finish();
}

interface Lane<N> {
  running: number;
  readonly queue: N[];
  /** nodes left at each order number, rising */
  readonly stages: { readonly order: number; readonly nodes: Map<string, N> }[];
}

class Run<N extends Node> {
  readonly #options: ScheduleOptions<N>;
  readonly #endings = new Map<string, Ending>();
  readonly #dependents = new Map<string, N[]>();
  readonly #lanes = new Map<string, Lane<N>>();
  readonly #waiting: Map<string, N>;
  #left: number;
  #running = 0;
  #done: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(nodes: readonly N[], options: ScheduleOptions<N>) {
    this.#options = options;
    this.#left = nodes.length;
    this.#waiting = new Map(nodes.map((node) => [node.id, node]));
    for (const node of nodes) {
      for (const need of node.needs)
        this.#dependents.set(need, [...(this.#dependents.get(need) ?? []), node]);
    }
    for (const [lane, members] of Map.groupBy(nodes, (node) => node.lane)) {
      const stages = [...Map.groupBy(members, (node) => node.order)]
        .sort(([a], [b]) => a - b)
        .map(([order, stage]) => ({ order, nodes: new Map(stage.map((node) => [node.id, node])) }));
      this.#lanes.set(lane, { running: 0, queue: [], stages });
    }
  }

  finish(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
      for (const lane of this.#lanes.values()) this.#consider([...(lane.stages[0]?.nodes.values() ?? [])]);
      this.#pump();
    });
  }

  /** Queues those that may run now, and skips those that never may. */
  #consider(nodes: readonly N[]): void {
    for (const node of nodes) {
      if (!this.#waiting.has(node.id) || !this.#isAtStage(node)) continue;
      const endings = node.needs.map((need) => [need, this.#ending(need)] as const);
      const broken = endings.find(([, ending]) => ending === 'failed' || ending === 'skipped');
      if (broken !== undefined) {
        this.#waiting.delete(node.id);
        this.#options.skipped(node, broken[0]);
        this.#settle(node, 'skipped');
      } else if (endings.every(([, ending]) => ending === 'ok')) {
        this.#waiting.delete(node.id);
        this.#lane(node).queue.push(node);
      }
    }
  }

  /** A need that is no node of this run was met before it began. */
  #ending(id: string): Ending | undefined {
    return this.#endings.get(id) ?? (this.#waiting.has(id) || this.#isQueued(id) ? undefined : 'ok');
  }

  #isQueued(id: string): boolean {
    for (const { stages } of this.#lanes.values())
      if (stages.some((stage) => stage.nodes.has(id))) return true;
    return false;
  }

  #isAtStage(node: N): boolean {
    return this.#lane(node).stages[0]?.order === node.order;
  }

  #lane(node: N): Lane<N> {
    const lane = this.#lanes.get(node.lane);
    if (lane === undefined) throw new Error(`no lane ${node.lane}`);
    return lane;
  }

  #settle(node: N, ending: Ending): void {
    this.#endings.set(node.id, ending);
    this.#left -= 1;
    const { stages } = this.#lane(node);
    stages.find((stage) => stage.order === node.order)?.nodes.delete(node.id);
    this.#consider(this.#dependents.get(node.id) ?? []);
    while (stages[0]?.nodes.size === 0) {
      stages.shift();
      this.#consider([...(stages[0]?.nodes.values() ?? [])]);
    }
  }

  #pump(): void {
    for (const lane of this.#lanes.values()) {
      while (lane.running < this.#options.concurrency) {
        const node = lane.queue.shift();
        if (node === undefined) break;
        void this.#start(lane, node);
      }
    }
    if (this.#left === 0) this.#done();
    else if (this.#running === 0)
      this.#fail(new Error(`calls wait for each other: ${[...this.#waiting.keys()].join(', ')}`));
  }

  async #start(lane: Lane<N>, node: N): Promise<void> {
    lane.running += 1;
    this.#running += 1;
    try {
      this.#settle(node, await this.#options.perform(node));
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    lane.running -= 1;
    this.#running -= 1;
    this.#pump();
  }
}
