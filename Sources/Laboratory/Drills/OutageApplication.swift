import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// One application of an outage drill: its delivery, its gateway, and what was seen of both.
struct OutageApplication: Sendable {
    /// Requests and dials that a gateway may get in a second while it is out.
    static let mostRequests: Int64 = 10
    /// The rate has to be back so many seconds after the gateway.
    static let recoveryLimit = 20.0
    /// Dials that a gateway may get in a minute, once it is known to refuse all: the shortest pause between two is half a second.
    static let mostDialsPerMinute = 60.0
    /// Seconds in which an application finds out that its gateway refuses, and the one in which they end.
    private static let noticeSeconds = 4
    /// Seconds in which it finds out that its gateway is silent: a PING after 15 s, and 15 s for its answer.
    private static let silenceSeconds = 31

    let name: String
    let platform: Platform
    let gateway: OutageGateway
    let delivery: DrillDelivery
    /// The delivery to which single messages are added during the outage, by its day; `nil`: there are none.
    var singles: DrillDelivery?
    /// Pushes that its gateway has accepted.
    let meter = RateMeter()
    /// Messages a second before the outage.
    var rate = 0.0
    /// Seconds from the end of the outage until this rate was back; `nil`: it was not.
    var recovery: Double?
    /// What its gateway counted during the outage.
    var requests: [Int64] = []
    var dials: [Int64]?
    /// Dials a minute, once the outage must have been found out; `nil` where they cannot be told from those that served.
    var dialsPerMinute: Double?

    /// The port of its gateway.
    var port: Int { Int(platform == .ios ? gateway.report.apns.port : gateway.report.fcm.port) }

    private var notice: Int { gateway.row.isSilent ? Self.silenceSeconds : Self.noticeSeconds }
    /// The most requests and dials in a second, once the outage must have been found out.
    var peakRequests: Int64 { requests.dropFirst(notice).max() ?? 0 }
    var peakDials: Int64? { dials.map { $0.dropFirst(notice).max() ?? 0 } }

    /// Takes what the gateway counted.
    ///
    /// - Parameter refusals: dials of closed ports, which only those who dial know of, by port.
    mutating func take(_ counts: GatewayCounts, _ watcher: DialWatcher, _ refusals: [Int: Int], _ seconds: Int) {
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
            if isClosed { dialsPerMinute = Double(refusals[port, default: 0]) * 60 / Double(max(1, seconds)) }
        }
        guard gateway.row.refusesConnections, let dials, seconds > notice else { return }
        dialsPerMinute = Double(dials.dropFirst(notice).reduce(0, +)) * 60 / Double(seconds - notice)
    }

    /// The attempts that were counted where none had to be.
    ///
    /// - Parameter refused: The messages that the gateway refused at least once.
    func wrongAttempts(_ delivery: DrillDelivery, _ store: Store, refused: Set<Int32>) async throws -> Int {
        let ambiguous = try await store.ambiguousMessages(delivery: delivery.id)
        let mayCount = platform == .ios && gateway.row.apnsCountsAttempts ? refused : []
        return try await store.outcomeRows(delivery: delivery.id).count { outcome in
            outcome.attempt > 1 && !ambiguous.contains(outcome.sequence) && !mayCount.contains(outcome.sequence)
        }
    }

    /// What is wrong with it at the end.
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
        if !gateway.row.isPartial, peakRequests > Self.mostRequests {
            faults.append("\(peakRequests) requests came in a second of the outage")
        }
        if let peakDials, !gateway.row.isPartial, peakDials > Self.mostRequests {
            faults.append("\(peakDials) connections were opened in a second of the outage")
        }
        if let dialsPerMinute, dialsPerMinute > Self.mostDialsPerMinute {
            faults.append("\(Int(dialsPerMinute)) connections a minute were dialled")
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

/// Counts the connections that this machine opens to some ports, where nobody at the other end can count: by their own ports in
/// `/proc/net/tcp`, looked at ten times a second. A connection that is refused at once is not seen.
final class DialWatcher: Sendable {
    private struct State: Sendable {
        var known: [Int: Set<String>] = [:]
        var dials: [Int: [Int64]] = [:]
    }

    private static let interval = Duration.milliseconds(100)

    private let ports: Set<Int>
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// Connections to these ports that are there now count for nothing.
    init(ports: Set<Int>) {
        self.ports = ports
        look { _, _ in }
    }

    /// Looks until the task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            let second = Int((ContinuousClock.now - start) / .seconds(1))
            look { state, port in
                var counts = state.dials[port] ?? []
                while counts.count <= second { counts.append(0) }
                counts[second] += 1
                state.dials[port] = counts
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// New connections to a port, in each second since the start.
    func dials(_ port: Int) -> [Int64] { state.withLock { $0.dials[port] ?? [] } }

    private func look(_ found: (inout State, Int) -> Void) {
        guard let text = try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8) else { return }
        state.withLock { state in
            for (port, own) in Self.connections(text, to: ports)
            where state.known[port, default: []].insert(own).inserted { found(&state, port) }
        }
    }

    /// The connections of a table to one of these ports, by that port and their own address.
    static func connections(_ table: String, to ports: Set<Int>) -> [(port: Int, own: String)] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            // "sl local_address rem_address st …": addresses are hexadecimal, "0100007F:1F90".
            let fields = line.split(separator: " ", maxSplits: 4)
            guard fields.count > 3, let colon = fields[2].lastIndex(of: ":"),
                let port = Int(fields[2][fields[2].index(after: colon)...], radix: 16), ports.contains(port)
            else { return nil }
            return (port, String(fields[1]))
        }
    }
}
