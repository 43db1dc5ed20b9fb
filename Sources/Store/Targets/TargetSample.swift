/// What the sample of an application has shown so far, and how much more of it to read.
///
/// A sample is made of windows: ranges of ids with about the same number of subscriptions each. Which windows are read, and
/// how many, depends only on what is found in them, so that two counts at the same moment agree.
struct TargetSample: Sendable, Hashable {
    /// What was found in windows.
    struct Sums: Sendable, Hashable {
        var windows: Int64 = 0
        var messages: Int64 = 0
        /// The sum of the squares of the messages of each window.
        var squares = 0.0
        var excluded: Int64 = 0

        mutating func add(_ other: Sums) {
            windows += other.windows
            messages += other.messages
            squares += other.squares
            excluded += other.excluded
        }
    }

    /// The number of all windows.
    let all: Int64
    private(set) var sums = Sums()

    /// The windows that are read first: the fewest whose variance says something.
    static let fewest: Int64 = 64
    /// The wanted error, as a share of the number: 2 %, with room for rounding.
    private static let precision = 0.0198
    /// A small sample shows roughly what is needed, so most of that is read next. Then it is known better, and a little more
    /// than the rest is read.
    private static let (most, little) = (0.7, 1.05)

    /// The number of rare matches is skewed: the exact limit for one that was found n times is about
    /// 1.96 * sqrt(n) + 1.9 above n.
    private static let skew = 1.9

    init(of all: Int64) { self.all = all }

    mutating func add(_ found: Sums) { sums.add(found) }

    /// Whether everything was read.
    var isWhole: Bool { sums.windows >= all }

    /// Whether enough was read for an estimate.
    var saysSomething: Bool { sums.windows >= min(Self.fewest, all) }

    /// Whether the error is small enough.
    var isPrecise: Bool {
        isWhole || sums.windows >= Self.fewest && error <= Self.precision * mean * Double(all)
    }

    /// How many windows to read next; 0 if the sample is large enough.
    ///
    /// - Parameter limit: the most windows that the sample may have.
    func next(limit: Int64) -> Int64 {
        guard !isPrecise else { return 0 }
        guard sums.windows >= Self.fewest else { return min(Self.fewest, all - sums.windows) }
        let share = 4 * Double(sums.windows) < needed && needed < Double(all) ? Self.most : Self.little
        let wanted = Int64((needed * share).rounded(.up)) - sums.windows
        return max(min(max(wanted, Self.fewest), min(limit, all) - sums.windows), 0)
    }

    /// The number of windows that a precise sample has, going by this one.
    private var needed: Double {
        guard sums.messages > 0 else { return Double(all) }
        let deviations = AudienceCounter.deviations / Self.precision
        let many =
            variance == 0
            ? AudienceCounter.maxUnseen / Self.precision : deviations * deviations * variance / (mean * mean)
        // Of a large part of all windows, fewer are needed.
        return min(many / (1 + many / Double(all)), Double(all))
    }

    private var mean: Double { Double(sums.messages) / Double(max(sums.windows, 1)) }

    private var variance: Double {
        let n = Double(max(sums.windows, 2))
        return max(sums.squares - n * mean * mean, 0) / (n - 1)
    }

    /// The error of the estimate, at 95 % confidence. It shrinks to nothing as the sample becomes the whole.
    var error: Double {
        let (n, whole) = (Double(max(sums.windows, 2)), Double(all))
        let rest = max(1 - n / whole, 0)
        // Windows that are all alike, for example because none has a match, say nothing about rare ones that differ.
        let unseen = variance == 0 ? AudienceCounter.maxUnseen * max(mean, 1) : Self.skew
        return max(
            AudienceCounter.deviations * (variance / n * rest).squareRoot() * whole + unseen / n * whole * rest,
            1
        )
    }

    /// The estimate for all windows, or the count if all were read.
    func total(_ name: String) -> TargetCount {
        guard !isWhole else { return TargetCount(application: name, messages: sums.messages, excluded: sums.excluded) }
        let factor = Double(all) / Double(max(sums.windows, 1))
        // Three digits of the error: rounding it up adds at most a hundredth.
        let unit = max(AudienceCounter.unit(error) / 100, 1)
        return TargetCount(
            application: name,
            messages: AudienceCounter.rounded(Double(sums.messages) * factor, unit),
            excluded: AudienceCounter.rounded(Double(sums.excluded) * factor, unit),
            error: Int64((error / unit).rounded(.up) * unit)
        )
    }
}
