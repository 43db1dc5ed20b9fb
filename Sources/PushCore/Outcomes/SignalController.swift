/// The rate of a delivery that follows a health signal: it rises while the signal is good and falls when it is not.
///
/// Its clock is the time of the signal's values. All that it remembers is in ``Memory``, so that the next value may be
/// handled by another host.
package struct SignalController: Sendable, Hashable {
    /// What the rate is doing, as `pushmta.delivery_signal` names it.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case rising
        /// The signal is near its target, or a change of the rate has yet to show in it.
        case holding
        case falling
        case atFloor = "at_floor"
        case atCeiling = "at_ceiling"
        /// The signal has no recent value.
        case stale
    }

    /// On which side of its target a value should stay.
    package enum Side: String, Sendable, Hashable, CaseIterable {
        case below
        case above
    }

    /// What an operator and the delivery's owner have chosen.
    package struct Aim: Sendable, Hashable {
        package var target: Double
        package var good: Side
        /// Messages a second that are sent in any case.
        package var floor: Double
        /// Messages a second that are never exceeded.
        package var ceiling: Double
        /// How long after a change of the rate the signal shows its effect.
        package var reaction: Duration

        package init(target: Double, good: Side, floor: Double, ceiling: Double, reaction: Duration) {
            self.target = target
            self.good = good
            self.floor = floor
            self.ceiling = ceiling
            self.reaction = reaction
        }
    }

    /// What it keeps from one value to the next.
    package struct Memory: Sendable, Hashable {
        /// Messages a second.
        package var rate: Double
        /// The smoothed load: 1 at the target, more if the target is broken.
        package var load: Double?
        /// The load smoothed over a longer time; the difference tells where the load is going.
        package var trend: Double?
        /// The rate at which the target was last broken.
        package var knee: Double?
        /// How long the rate stays below the knee after a cut.
        package var patience = Duration.zero
        /// When the rate was last cut.
        package var cutAt: Duration?
        /// When the last value was handled.
        package var sampledAt: Duration?

        package init(rate: Double) {
            self.rate = rate
        }
    }

    /// What happened.
    package enum Event: Sendable, Hashable {
        /// A new value of the signal.
        ///
        /// `sent`: the messages a second since the last value; nil if unknown.
        case sample(Double, sent: Double?, at: Duration)
        /// The last value is too old to say anything.
        case stale
    }

    /// The load that the rate approaches: a margin below the target, for noise.
    private static let goal = 0.95
    /// From where to where, as parts of the knee, the rate grows slowly.
    private static let nearKnee = 0.9...1.1
    /// The part by which the rate grows within a reaction if there is no load, near the knee and elsewhere.
    private static let growthNearKnee = 0.1
    private static let growth = 0.5
    /// How far ahead the trend is followed, in times of the difference between load and trend.
    private static let foresight = 1.5
    /// A load from which on a single value counts: that much is no noise.
    private static let certain = 1.5
    private static let maxLoad = 2.0
    /// A cut leaves at least and at most this part of the rate.
    private static let cuts = 0.5...0.95
    private static let maxPatience = Duration.seconds(300)

    package let aim: Aim
    package private(set) var memory: Memory
    package private(set) var state: State

    /// - Parameter memory: what another controller of the delivery has kept.
    package init(_ aim: Aim, _ memory: Memory, state: State = .atFloor) {
        self.aim = aim
        self.memory = memory
        self.state = state
        self.memory.rate = clamped(memory.rate)
    }

    /// The present rate, in messages a second.
    package var rate: Double { memory.rate }

    /// Decides the rate after an event.
    package mutating func handle(_ event: Event) {
        switch event {
        case .stale:
            // The knee stays: it is what the backend could take when it was last seen.
            memory.rate = aim.floor
            memory.load = nil
            memory.trend = nil
            memory.cutAt = nil
            memory.sampledAt = nil
            state = .stale
        case .sample(let value, let sent, let moment):
            let elapsed = memory.sampledAt.map { min(max(.zero, moment - $0), aim.reaction) } ?? .zero
            memory.sampledAt = moment
            // At most one cut within a reaction: until then, values show the rate before it.
            if let cutAt = memory.cutAt, moment >= cutAt, moment < cutAt + aim.reaction { return }
            let load = smooth(self.load(of: value))
            if load > 1 { return cut(load, at: moment) }
            let ahead = load + Self.foresight * max(0, load - (memory.trend ?? load))
            let headroom = 1 - ahead / Self.goal
            let before = memory.rate
            let part: Double = elapsed / aim.reaction
            if load > Self.goal {
                memory.rate = clamped(before * (1 - (load - Self.goal) / 2 * part))
            } else if headroom > 0, sent.map({ $0 >= before / 2 }) ?? true {
                // A rate that is not used says nothing about what the backend can take.
                rise(by: headroom * part, at: moment)
            }
            note(change: memory.rate - before)
        }
    }

    /// 0 without any load, 1 at the target.
    private func load(of value: Double) -> Double {
        let load =
            switch aim.good {
            case .below: value / aim.target
            case .above: value > 0 ? aim.target / value : Self.maxLoad
            }
        return min(max(0, load), Self.maxLoad)
    }

    private mutating func smooth(_ load: Double) -> Double {
        let smoothed = load >= Self.certain ? load : memory.load.map { ($0 + load) / 2 } ?? load
        memory.load = smoothed
        memory.trend = memory.trend.map { $0 + (load - $0) / 5 } ?? load
        return smoothed
    }

    private mutating func cut(_ load: Double, at moment: Duration) {
        let wasJustCut = memory.cutAt.map { moment <= $0 + aim.reaction * 2 } ?? false
        // A signal that gives no warning, such as a share of errors, breaks at the same rate again and again.
        if !wasJustCut, load > 1.1, let knee = memory.knee, (0.85...1.15).contains(memory.rate / knee) {
            memory.patience = min(Self.maxPatience, max(aim.reaction * 6, memory.patience * 2))
        }
        memory.knee = memory.rate
        memory.cutAt = moment
        // What was cut and is still broken was cut too little.
        let part = wasJustCut ? 0 : Self.goal / load
        memory.rate = clamped(memory.rate * min(max(part, Self.cuts.lowerBound), Self.cuts.upperBound))
        // Values from before the cut say nothing about the time after it.
        memory.load = nil
        memory.trend = nil
        state = memory.rate <= aim.floor ? .atFloor : .falling
    }

    private mutating func rise(by part: Double, at moment: Duration) {
        if let knee = memory.knee, memory.rate > Self.nearKnee.upperBound * knee {
            memory.knee = nil
            memory.patience = .zero
        }
        let brink = memory.knee.map { Self.nearKnee.lowerBound * $0 } ?? .infinity
        guard memory.rate >= brink else {
            memory.rate = clamped(min(memory.rate * (1 + Self.growth * part), brink))
            return
        }
        if let cutAt = memory.cutAt, moment >= cutAt, moment < cutAt + memory.patience { return }
        memory.rate = clamped(memory.rate * (1 + Self.growthNearKnee * part))
    }

    private mutating func note(change: Double) {
        if memory.rate >= aim.ceiling {
            state = .atCeiling
        } else if change > 0 {
            state = .rising
        } else if memory.rate <= aim.floor {
            state = .atFloor
        } else {
            state = change < 0 ? .falling : .holding
        }
    }

    private func clamped(_ rate: Double) -> Double { min(max(rate, aim.floor), aim.ceiling) }
}
