import NIOCore
import NIOPosix
import Synchronization

/// The simulated devices as their web server knows them: they register, and report the pushes that they get.
///
/// Devices behave as Adobe's SDKs do: only 200 is success, and nothing is repeated.
final class DeviceFleet: Sendable {
    private struct Line: Sendable {
        let loop: any EventLoop
        let box: NIOLoopBoundBox<FleetLine>

        /// Does something with the line on its event loop.
        func run(_ body: @escaping @Sendable (FleetLine) -> Void) {
            loop.execute { body(box.value) }
        }
    }

    private struct State: Sendable {
        var queue = FleetQueue()
        var server: FleetServer?
        var lines: [Line] = []
        /// Lines without anything to do.
        var idle: [Int] = []
        var pushes = 0
        var lastData: [String: String] = [:]
    }

    private let group: MultiThreadedEventLoopGroup
    private let state = Mutex(State())
    /// Whether devices report pushes: looked at with every push.
    private let reports = Atomic<Bool>(false)

    /// As many connections as a load balancer usually keeps to one server.
    private static let connections = 32

    init(group: MultiThreadedEventLoopGroup) {
        self.group = group
    }

    /// Whether a push is to be given to ``deliver(_:)``.
    var isReporting: Bool { reports.load(ordering: .relaxed) }

    /// What was done so far.
    var counters: FleetCounters { state.withLock(\.queue.counters) }

    /// FCM's data of the last push that had ids in it, as the app on the device gets it.
    var lastData: [String: String] { state.withLock(\.lastData) }

    /// Names the web server of the devices.
    func use(_ server: FleetServer) {
        let lines = state.withLock { state in
            state.server = server
            if state.lines.isEmpty {
                state.lines = (0..<Self.connections).map { number in
                    let loop = group.next()
                    let line = FleetLine(number: number, fleet: self, loop: loop)
                    return Line(loop: loop, box: .makeBoxSendingValue(line, eventLoop: loop))
                }
            }
            return state.lines
        }
        reports.store(server.clickEvery >= 0, ordering: .relaxed)
        for line in lines { line.run { $0.reconnect() } }
    }

    /// Where the server is now.
    var server: FleetServer? { state.withLock(\.server) }

    func register(_ registration: FleetRegistration) {
        wake { $0.queue.add(registration) }
    }

    /// A push has come to a device.
    func deliver(_ body: [UInt8]) {
        let message = FleetMessage(body)
        wake { state in
            state.pushes += 1
            if let data = message?.data, !data.isEmpty { state.lastData = data }
            let every = state.server?.clickEvery ?? 0
            state.queue.add(message, clicks: every > 0 && state.pushes % every == 0)
        }
    }

    /// What line `number` is to do next; without anything it is woken when there is.
    func next(_ number: Int) -> FleetRequest? {
        state.withLock { state in
            if let request = state.queue.take() { return request }
            state.idle.append(number)
            return nil
        }
    }

    /// A request is over: nil if it has no answer.
    func finish(_ request: FleetRequest, status: Int?) {
        state.withLock { $0.queue.finish(request, status: status) }
    }

    /// Ends all connections.
    func stop() {
        reports.store(false, ordering: .relaxed)
        let lines = state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
        for line in lines { line.run { $0.close() } }
    }

    private func wake(_ change: (inout State) -> Void) {
        let woken = state.withLock { state in
            change(&state)
            defer { state.idle = [] }
            return state.idle.compactMap { $0 < state.lines.count ? state.lines[$0] : nil }
        }
        for line in woken { line.run { $0.proceed() } }
    }
}

/// The web server of the simulated devices.
struct FleetServer: Sendable, Equatable {
    var host: String
    var port: Int
    /// Every so many pushes are clicked on, 0: none is. Negative: devices report nothing.
    var clickEvery: Int

    /// The value of a request's Host field (RFC 9110 section 7.2): an IPv6 address stands in brackets.
    var hostField: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// What the simulated devices have told their web server; only what it answered with 200 counts.
public struct FleetCounters: Sendable, Codable, Equatable {
    /// Registrations that the server has taken.
    public var registered = 0
    /// Receipts of messages that the server has taken.
    public var received = 0
    /// Clicks on messages that the server has taken.
    public var clicked = 0
    /// Requests without an answer, or with another one than 200; devices do not repeat them.
    public var failed = 0
    /// Requests that are to be made.
    public var waiting = 0
    /// Messages whose payload carried no ids that a device could report.
    public var untracked = 0
}
