/**
 * How far the clock of a service is from the one here, as the `Date` of its answers proves. That header has whole seconds and an answer
 * takes its time, so each answer gives a range; a clock that none of them disproves counts as the same.
 */
export class ClockDifference {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;

  /**
   * @param date the header; one that is missing or no time is left out
   * @param exchange when the request was sent and the answer had come, by the clock here, in milliseconds since 1970
   */
  learn(
    date: string | undefined,
    { sent, answered }: { readonly sent: number; readonly answered: number },
  ): void {
    const told = date === undefined ? Number.NaN : Date.parse(date);
    if (Number.isNaN(told)) return;
    const [least, most] = [Math.floor(told - answered), Math.ceil(told + 999 - sent)];
    // A clock that was set in between makes what was learnt before untrue.
    const isSame = least <= this.#most && most >= this.#least;
    this.#least = isSame ? Math.max(least, this.#least) : least;
    this.#most = isSame ? Math.min(most, this.#most) : most;
  }

  /** So many milliseconds the service is ahead at least, or, below 0, behind; undefined while no answer told its time. */
  get ahead(): number | undefined {
    if (this.#least === Number.NEGATIVE_INFINITY) return undefined;
    if (this.#least > 0) return this.#least;
    return Math.min(this.#most, 0);
  }
}
