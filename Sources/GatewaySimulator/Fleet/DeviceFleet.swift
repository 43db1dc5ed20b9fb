import NIOCore
import NIOPosix
import Synchronization

/// The simulated devices as clients of their web server: they register, and report the pushes that they receive.
///
/// Devices behave like Adobe's SDKs: only 200 is success, and nothing is retried.
final class DeviceFleet: Sendable {
    private struct Line: Sendable {
        let loop: any EventLoop
        let box: NIOLoopBoundBox<FleetLine>

        /// Runs a closure with the line on its event loop.
        func run(_ body: @escaping @Sendable (FleetLine) -> Void) {
            loop.execute { body(box.value) }
        }
    }

    private struct State: Sendable {
        var queue = FleetQueue()
        var server: FleetServer?
        var lines: [Line] = []
        /// Lines that are idle.
        var idle: [Int] = []
        var pushes = 0
        var lastData: [String: String] = [:]
    }

    private let group: MultiThreadedEventLoopGroup
    private let state = Mutex(State())
    /// Whether devices report pushes; read for every push.
    private let reports = Atomic<Bool>(false)

    /// The number of connections that a load balancer usually keeps to one server.
    private static let connections = 32

    init(group: MultiThreadedEventLoopGroup) {
        self.group = group
    }

    /// Whether pushes should be passed to ``deliver(_:)``.
    var isReporting: Bool { reports.load(ordering: .relaxed) }

    /// What the devices have done so far.
    var counters: FleetCounters { state.withLock(\.queue.counters) }

    /// FCM's data in the last push with ids, as the app on the device gets it.
    var lastData: [String: String] { state.withLock(\.lastData) }

    /// Sets the devices' web server.
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

    /// The current server.
    var server: FleetServer? { state.withLock(\.server) }

    func register(_ registration: FleetRegistration) {
        wake { $0.queue.add(registration) }
    }

    /// Delivers a push to a device.
    func deliver(_ body: [UInt8]) {
        let message = FleetMessage(body)
        wake { state in
            state.pushes += 1
            if let data = message?.data, !data.isEmpty { state.lastData = data }
            let every = state.server?.clickEvery ?? 0
            state.queue.add(message, clicks: every > 0 && state.pushes % every == 0)
        }
    }

    /// The next request for line `number`. If there is none, the line is woken later.
    func next(_ number: Int) -> FleetRequest? {
        state.withLock { state in
            if let request = state.queue.take() { return request }
            state.idle.append(number)
            return nil
        }
    }

    /// Records the end of a request; the status is nil if it got no answer.
    func finish(_ request: FleetRequest, status: Int?) {
        state.withLock { $0.queue.finish(request, status: status) }
    }

    /// Closes all connections.
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
    /// One of this many pushes is clicked; 0: none is. Negative: devices report nothing.
    var clickEvery: Int

    /// The value of a request's Host field (RFC 9110 section 7.2), with an IPv6 address in brackets.
    var hostField: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// What the simulated devices have reported to their web server. Only requests answered with 200 count.
package struct FleetCounters: Sendable, Codable, Equatable {
    /// Registrations that the server has accepted.
    package var registered = 0
    /// Receipts that the server has accepted.
    package var received = 0
    /// Clicks that the server has accepted.
    package var clicked = 0
    /// Requests without an answer, or with a status other than 200; devices do not retry them.
    package var failed = 0
    /// Requests that are still to be made.
    package var waiting = 0
    /// Messages without ids that a device could report.
    package var untracked = 0
}
