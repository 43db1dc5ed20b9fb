/// The subscriptions of one application in the count of a delivery's target.
struct TargetPart: Sendable {
    let name: String
    let sampler: TargetSampler
    let size: TargetSampler.Size
    /// Subscriptions in a window, about.
    private var span: Int64
    private(set) var sample: TargetSample

    /// Neighbours cost less than others.
    private static let wide: Int64 = 256
    /// Neighbours are alike: who registers early often has a later device. Where each subscription that is selected costs a
    /// look-up, many small windows are cheaper.
    private static let narrow: Int64 = 16
    /// Of how many subscriptions one may be selected for wide windows to be cheaper all the same.
    private static let rare = 20.0
    /// What a look-up of a person's other subscriptions costs, in subscriptions that are read, and what it costs if it also
    /// asks what the person did.
    private static let (lookup, question) = (40.0, 80.0)

    init(_ name: String, _ sampler: TargetSampler, _ size: TargetSampler.Size) {
        self.name = name
        self.sampler = sampler
        self.size = size
        span = sampler.target.onePerUser ? Self.narrow : Self.wide
        sample = TargetSample(of: size.windows(of: size.width(of: span)))
    }

    /// How many there are, about.
    var subscriptions: Int64 { sample.all * span }

    var count: TargetCount { sample.total(name) }

    /// Reads up to about this many subscriptions more, unless the sample is large enough.
    mutating func advance(by rows: Int64, until deadline: ContinuousClock.Instant) async throws {
        if !sample.saysSomething {
            try await read(isSmall ? sample.all : TargetSample.fewest, until: deadline)
            if span < Self.wide, selected * Self.rare < 1 {
                span = Self.wide
                sample = TargetSample(of: size.windows(of: size.width(of: span)))
                try await read(min(TargetSample.fewest, sample.all), until: deadline)
            }
        }
        let limit = sample.sums.windows + Int64(Double(rows) / (Double(span) * cost))
        while case let windows = sample.next(limit: limit), windows > 0 {
            try await read(windows, until: deadline)
        }
    }

    private var isSmall: Bool { size.count <= TargetSampler.wholeSize }

    /// The share of subscriptions that the target selects.
    private var selected: Double {
        Double(sample.sums.messages + sample.sums.excluded) / Double(max(sample.sums.windows * span, 1))
    }

    /// What a subscription costs on average, in those of a target that one field of all subscriptions selects.
    private var cost: Double {
        let filter = sampler.target.filter
        guard sampler.target.onePerUser else { return filter?.cost ?? 1 }
        return (filter?.cost ?? 1) + selected * (filter?.ownJoinsSQL.isEmpty == false ? Self.question : Self.lookup)
    }

    private mutating func read(_ windows: Int64, until deadline: ContinuousClock.Instant) async throws {
        let from = sample.sums.windows
        sample.add(
            try await sampler.read(
                from..<min(from + windows, sample.all),
                of: sample,
                first: size.first,
                width: size.width(of: span),
                within: deadline - ContinuousClock.now
            )
        )
    }
}
