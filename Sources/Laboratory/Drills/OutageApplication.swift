import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// One application of an outage drill: its delivery, its gateway, and what was observed.
struct OutageApplication: Sendable {
    /// The maximum number of requests, and of dials, that a gateway may get per second while it is down.
    static let maxRequests: Int64 = 10
    /// The maximum time from the end of the outage until the rate has recovered, in seconds.
    static let recoveryLimit = 20.0
    /// The maximum number of dials per minute once the gateway is known to refuse all. The minimum pause between two is
    /// half a second.
    static let maxDialsPerMinute = 60.0
    /// Seconds until an application notices that its gateway refuses, including the second in which they end.
    private static let noticeSeconds = 4
    /// Seconds until it notices that its gateway is silent: a PING after 15 s, and 15 s for the answer.
    private static let silenceSeconds = 31

    let name: String
    let platform: Platform
    let gateway: OutageGateway
    let delivery: DrillDelivery
    /// The delivery of the single messages added during the outage; `nil` if there are none.
    var singles: DrillDelivery?
    /// Measures the pushes that its gateway accepts.
    let meter = RateMeter()
    /// Messages a second before the outage.
    var rate = 0.0
    /// Seconds from the end of the outage until this rate was reached again; `nil` if it was not.
    var recovery: Double?
    /// The requests that its gateway counted in each second of the outage.
    var requests: [Int64] = []
    var dials: [Int64]?
    /// Dials per minute once the outage must have been noticed; `nil` where failed dials cannot be told from successful
    /// ones.
    var dialsPerMinute: Double?

    /// Its gateway's port.
    var port: Int { Int(platform == .ios ? gateway.report.apns.port : gateway.report.fcm.port) }

    private var notice: Int { gateway.row.isSilent ? Self.silenceSeconds : Self.noticeSeconds }
    /// The maximum number of requests, and of dials, in a second once the outage must have been noticed.
    var peakRequests: Int64 { requests.dropFirst(notice).max() ?? 0 }
    var peakDials: Int64? { dials.map { $0.dropFirst(notice).max() ?? 0 } }

    /// Stores what the gateway counted.
    ///
    /// - Parameter refusals: The refused dials by port. For a closed port, only the dialling side can count them.
    mutating func take(_ counts: GatewayCounts, _ watcher: DialWatcher, _ refusals: [Int: Int], _ seconds: Int) {
        let own = platform == .ios ? counts.apns : counts.fcm
        switch gateway.row.action(platform) {
        case .freeze, .cut: dials = Array(watcher.dials(port).prefix(seconds))
        case .tokens:
            requests = own.outage?.tokenRequests ?? []
            dials = nil
        default:
            requests = own.outage?.requests ?? []
            // At a closed port the gateway sees no dials.
            let isClosed = gateway.row.name == "refused"
            dials = isClosed ? nil : own.outage?.dials ?? []
            if isClosed { dialsPerMinute = Double(refusals[port, default: 0]) * 60 / Double(max(1, seconds)) }
        }
        guard gateway.row.refusesConnections, let dials, seconds > notice else { return }
        dialsPerMinute = Double(dials.dropFirst(notice).reduce(0, +)) * 60 / Double(seconds - notice)
    }

    /// The number of messages with an attempt counted although none should be.
    ///
    /// - Parameter refused: The messages that the gateway refused at least once.
    func wrongAttempts(_ delivery: DrillDelivery, _ store: Store, refused: Set<Int32>) async throws -> Int {
        let ambiguous = try await store.ambiguousMessages(delivery: delivery.id)
        let mayCount = platform == .ios && gateway.row.apnsCountsAttempts ? refused : []
        return try await store.outcomeRows(delivery: delivery.id).count { outcome in
            outcome.attempt > 1 && !ambiguous.contains(outcome.sequence) && !mayCount.contains(outcome.sequence)
        }
    }

    /// What is wrong at the end.
    func faults(_ progress: DeliveryProgress, singles: DeliveryProgress?, wrongAttempts: Int, hasTimes: Bool)
        -> [String]
    {
        var faults: [String] = []
        if let singles, singles.failed > 0 || singles.sent != gateway.row.singles {
            faults.append(
                "\(singles.sent) of \(gateway.row.singles) single messages were sent, \(singles.failed) failed"
            )
        }
        if progress.failed > 0 { faults.append("\(progress.failed) messages failed") }
        if progress.sent != delivery.messages { faults.append("\(progress.sent) of \(delivery.messages) were sent") }
        if wrongAttempts > 0 { faults.append("\(wrongAttempts) messages are not on their first attempt") }
        if !gateway.row.isPartial, peakRequests > Self.maxRequests {
            faults.append(
                "\(peakRequests) requests arrived in one second of the outage; the maximum is \(Self.maxRequests)"
            )
        }
        if let peakDials, !gateway.row.isPartial, peakDials > Self.maxRequests {
            faults.append(
                "\(peakDials) connections were opened in one second of the outage; the maximum is \(Self.maxRequests)"
            )
        }
        if let dialsPerMinute, dialsPerMinute > Self.maxDialsPerMinute {
            faults.append(
                "\(Int(dialsPerMinute)) connections were dialled per minute; the maximum is "
                    + "\(Int(Self.maxDialsPerMinute))"
            )
        }
        guard hasTimes else { return faults }
        if let recovery, recovery > Self.recoveryLimit {
            faults.append("the rate took \(Int(recovery)) s to recover; the limit is \(Int(Self.recoveryLimit)) s")
        }
        if recovery == nil { faults.append("the rate did not recover") }
        return faults
    }

    /// The columns of the table.
    static let columns = [
        "application", "rate", "found_out_requests", "peak_requests", "peak_dials", "dials_min", "sent", "failed",
        "pending",
        "singles_sent", "singles_failed", "ambiguous", "attempts", "recovery_s", "ok",
    ]

    /// Its row in the table.
    func cells(
        _ progress: DeliveryProgress,
        singles: DeliveryProgress?,
        ambiguous: Int,
        wrongAttempts: Int,
        isRight: Bool
    ) -> [Cell] {
        [
            .text(name), .integer(Int64(rate)), .integer(requests.prefix(notice).reduce(0, +)), .integer(peakRequests),
            peakDials.map { .integer($0) } ?? .none, dialsPerMinute.map { .number($0.rounded()) } ?? .none,
            .integer(progress.sent), .integer(progress.failed), .integer(progress.pending),
            singles.map { .integer($0.sent) } ?? .none, singles.map { .integer($0.failed) } ?? .none, Cell(ambiguous),
            Cell(wrongAttempts), recovery.map { .number($0) } ?? .none,
            .flag(isRight),
        ]
    }
}
