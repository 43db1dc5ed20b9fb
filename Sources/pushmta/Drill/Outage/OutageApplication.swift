import PushCore
import Store

/// One application of an outage drill: its delivery, its gateway, and what was seen of both.
struct OutageApplication: Sendable {
    /// Requests and dials that a gateway may get in a second while it is out.
    static let mostRequests: Int64 = 10
    /// The rate has to be back so many seconds after the gateway.
    static let recoveryLimit = 20.0
    /// Seconds in which an application finds out that its gateway refuses, and the one in which they end.
    private static let noticeSeconds = 4
    /// Seconds in which it finds out that its gateway is silent: a PING after 15 s, and 15 s for its answer.
    private static let silenceSeconds = 31

    /// Its name.
    let name: String
    /// Its platform.
    let platform: Platform
    /// Its gateway.
    let gateway: OutageGateway
    /// Its delivery.
    let delivery: DrillDelivery
    /// Pushes that its gateway has accepted.
    let meter = RateMeter()
    /// Messages a second before the outage.
    var rate = 0.0
    /// Seconds from the end of the outage until this rate was back; `nil`: it was not.
    var recovery: Double?
    /// What its gateway counted during the outage.
    var requests: [Int64] = []
    var dials: [Int64]?

    /// The port of its gateway.
    var port: Int { Int(platform == .ios ? gateway.report.apns.port : gateway.report.fcm.port) }

    private var notice: Int { gateway.row.isSilent ? Self.silenceSeconds : Self.noticeSeconds }
    /// The most requests and dials in a second, once the outage must have been found out.
    var peakRequests: Int64 { requests.dropFirst(notice).max() ?? 0 }
    var peakDials: Int64? { dials.map { $0.dropFirst(notice).max() ?? 0 } }

    /// Takes what the gateway counted.
    mutating func take(_ counts: GatewayCounts, _ watcher: DialWatcher, _ seconds: Int) {
        let own = platform == .ios ? counts.apns : counts.fcm
        switch gateway.row.action(platform) {
        case .freeze, .cut: dials = Array(watcher.dials(port).prefix(seconds))
        case .tokens:
            requests = own.outage?.tokenRequests ?? []
            dials = nil
        default:
            requests = own.outage?.requests ?? []
            // Of a closed port nobody can say who knocked.
            let isClosed = gateway.row.name == "refused"
            dials = isClosed ? nil : own.outage?.dials ?? []
        }
    }

    /// The attempts that were counted where none had to be.
    ///
    /// - Parameter refused: The messages that the gateway refused at least once.
    func wrongAttempts(_ store: Store, refused: Set<Int32>) async throws -> Int {
        let ambiguous = try await store.ambiguousMessages(delivery: delivery.id)
        let mayCount = platform == .ios && gateway.row.apnsCountsAttempts ? refused : []
        return try await store.outcomeRows(delivery: delivery.id).count { outcome in
            outcome.attempt > 1 && !ambiguous.contains(outcome.sequence) && !mayCount.contains(outcome.sequence)
        }
    }

    /// What is wrong with it at the end.
    func faults(_ progress: DeliveryProgress, wrongAttempts: Int, hasTimes: Bool) -> [String] {
        var faults: [String] = []
        if progress.failed > 0 { faults.append("\(progress.failed) messages failed") }
        if progress.sent != delivery.messages { faults.append("\(progress.sent) of \(delivery.messages) were sent") }
        if wrongAttempts > 0 { faults.append("\(wrongAttempts) messages are not on their first attempt") }
        if !gateway.row.isPartial, peakRequests > Self.mostRequests {
            faults.append("\(peakRequests) requests came in a second of the outage")
        }
        if let peakDials, !gateway.row.isPartial, peakDials > Self.mostRequests {
            faults.append("\(peakDials) connections were opened in a second of the outage")
        }
        guard hasTimes else { return faults }
        if let recovery, recovery > Self.recoveryLimit {
            faults.append("the rate was back after \(Int(recovery)) s only")
        }
        if recovery == nil { faults.append("the rate was not back") }
        return faults
    }

    /// The columns of the table.
    static let columns = [
        "application", "rate", "found_out_requests", "peak_requests", "peak_dials", "sent", "failed", "pending",
        "ambiguous",
        "attempts", "recovery_s", "ok",
    ]

    /// Its row in the table.
    func cells(_ progress: DeliveryProgress, ambiguous: Int, wrongAttempts: Int, isRight: Bool) -> [Cell] {
        [
            .text(name), .integer(Int64(rate)), .integer(requests.prefix(notice).reduce(0, +)), .integer(peakRequests),
            peakDials.map { .integer($0) } ?? .none, .integer(progress.sent), .integer(progress.failed),
            .integer(progress.pending), Cell(ambiguous), Cell(wrongAttempts), recovery.map { .number($0) } ?? .none,
            .flag(isRight),
        ]
    }
}
