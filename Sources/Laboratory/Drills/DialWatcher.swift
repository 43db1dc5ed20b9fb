import Foundation
import Synchronization

/// Counts the connections that this machine opens to some ports, for gateways that cannot count them. It reads the
/// connections' local ports from `/proc/net/tcp` ten times a second. It misses connections that are refused at once.
final class DialWatcher: Sendable {
    private struct State: Sendable {
        var known: [Int: Set<String>] = [:]
        var dials: [Int: [Int64]] = [:]
    }

    private static let interval = Duration.milliseconds(100)

    private let ports: Set<Int>
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// Existing connections to these ports are not counted.
    init(ports: Set<Int>) {
        self.ports = ports
        look { _, _ in }
    }

    /// Counts until the task is cancelled.
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

    /// The new connections to a port in each second since the start.
    func dials(_ port: Int) -> [Int64] { state.withLock { $0.dials[port] ?? [] } }

    private func look(_ found: (inout State, Int) -> Void) {
        guard let text = try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8) else { return }
        state.withLock { state in
            for (port, own) in Self.connections(text, to: ports)
            where state.known[port, default: []].insert(own).inserted { found(&state, port) }
        }
    }

    /// The connections in a table to one of these ports, with the port and their local address.
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
