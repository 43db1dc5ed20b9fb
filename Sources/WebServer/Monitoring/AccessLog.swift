import Dispatch
import Foundation
import HTTPTypes
import PushCore
import Store
import Synchronization
import SystemPackage

/// Writes a line for each request: time (RFC 3339, UTC, milliseconds, as in all logs), id, client, method, path,
/// status, microseconds.
///
/// With `log.format: json` a line is an object with the same keys as the process's log, so that one reader handles
/// both.
///
/// The path is the route's, as in `/api/v1/devices/{id}`. The log contains no query, no body and none of the client's
/// values in a path, so no push token, message id or key.
///
/// Lines are gathered and written a few times a second. If they are not read, they are dropped and counted rather than
/// kept.
final class AccessLog: Sendable {
    enum Format: Sendable {
        case text
        /// An object; `head` is the constant text between the time and the request's values.
        case json(head: String)

        /// Makes the format of a process's lines.
        init(isJSON: Bool, host: String) {
            guard isJSON else {
                self = .text
                return
            }
            var head = Array(#"","level":"info","process":"web","pid":\#(getpid()),"host":"#.utf8)
            JSONText.appendString(host, to: &head)
            head.append(contentsOf: #","message":"request answered","request":""#.utf8)
            self = .json(head: String(decoding: head, as: UTF8.self))
        }
    }

    private struct State {
        var bytes: [UInt8] = []
        var dropped = 0
        /// The formatted current second of Unix time, shared by its lines.
        var second: (number: Int64, text: String) = (-1, "")
    }

    private let state = Mutex(State())
    private let path: String
    private let isOn: Bool
    private let format: Format
    private let file: Mutex<FileDescriptor?>
    private let queue = DispatchQueue(label: "pushmta.access-log")

    /// The maximum number of bytes that wait; about 30,000 lines.
    private static let maxBytes = 4 << 20
    private static let writePause = Duration.milliseconds(200)

    /// - Parameters:
    ///   - path: a file; `-` for standard output; empty for no log.
    ///   - format: the format of a line.
    init(path: String, format: Format = .text) throws {
        self.path = path
        self.format = format
        isOn = !path.isEmpty
        switch path {
        case "": file = Mutex(nil)
        case "-": file = Mutex(.standardOutput)
        default: file = Mutex(try Self.open(path))
        }
    }

    private static func open(_ path: String) throws -> FileDescriptor {
        try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: [.create, .append, .closeOnExec],
            permissions: [.ownerReadWrite, .groupRead]
        )
    }

    /// Reopens the file by name. If it cannot be opened, the current file stays in use.
    func reopen() {
        guard isOn, path != "-" else { return }
        queue.async {
            guard let new = try? Self.open(self.path) else { return }
            let old = self.file.withLock { current in
                defer { current = new }
                return current
            }
            try? old?.close()
        }
    }

    /// Adds the line of an answered request.
    func add(_ exchange: WebExchange, method: HTTPRequest.Method, path: String, status: Int, nanoseconds: UInt64) {
        guard isOn else { return }
        let microseconds = WallClock.microseconds
        let fraction = String(1_000 + microseconds / 1_000 % 1_000).dropFirst()
        let rest = rest(
            client: exchange.client?.description,
            id: exchange.id,
            method: String(method.rawValue.prefix(20)),
            path: path,
            status: status,
            microseconds: nanoseconds / 1_000
        )
        state.withLock { state in
            guard state.bytes.count < Self.maxBytes else {
                state.dropped += 1
                return
            }
            let second = microseconds / 1_000_000
            if state.second.number != second { state.second = (second, Self.text(second)) }
            if case .json = format { state.bytes.append(contentsOf: Self.start) }
            state.bytes.append(contentsOf: state.second.text.utf8)
            state.bytes.append(contentsOf: fraction.utf8)
            state.bytes.append(UInt8(ascii: "Z"))
            state.bytes.append(contentsOf: rest.utf8)
            state.bytes.append(UInt8(ascii: "\n"))
        }
    }

    private static let start = #"{"time":""#.utf8

    /// A line after its time. Methods are tokens, ids are checked, and addresses and paths are our own, so none
    /// contains a blank, a quotation mark or a line break.
    private func rest(
        client: String?,
        id: String,
        method: String,
        path: String,
        status: Int,
        microseconds: UInt64
    ) -> String {
        switch format {
        case .text:
            return " \(id) \(client ?? "-") \(method) \(path) \(status) \(microseconds)"
        case .json(let head):
            let address = client.map { #""\#($0)""# } ?? "null"
            return
                #"\#(head)\#(id)","client":\#(address),"method":"\#(method)","path":"\#(path)","status":\#(status),"microseconds":\#(microseconds)}"#
        }
    }

    /// Writes lines until the task is cancelled, then the rest.
    func run() async {
        guard isOn else { return }
        while (try? await Task.sleep(for: Self.writePause)) != nil { await writeAside() }
        await writeAside()
    }

    /// Writes on a thread that may block: a pipe that is not read must not block anything else.
    private func writeAside() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.write()
                continuation.resume()
            }
        }
    }

    private func write() {
        let (bytes, dropped) = state.withLock { state in
            defer { state = State() }
            return (state.bytes, state.dropped)
        }
        guard let descriptor = file.withLock({ $0 }), !bytes.isEmpty else { return }
        let note = dropped > 0 ? Array("\(note(dropped))\n".utf8) : []
        // A failure to write the log must not stop the requests.
        _ = try? descriptor.writeAll(bytes + note)
    }

    /// The line about dropped lines.
    private func note(_ dropped: Int) -> String {
        guard case .json(let head) = format, let end = head.range(of: #","message":"#) else {
            return "- - - - - - - \(dropped) lines dropped"
        }
        let microseconds = WallClock.microseconds
        let fraction = String(1_000 + microseconds / 1_000 % 1_000).dropFirst()
        return
            #"{"time":"\#(Self.text(microseconds / 1_000_000))\#(fraction)Z\#(head[..<end.lowerBound])","message":"\#(dropped) lines dropped"}"#
    }

    /// A UTC time, up to and including the point before the fraction.
    private static func text(_ second: Int64) -> String {
        let day = LogDay(daysSince2000: Int32(clamping: second / 86_400 - daysTo2000))
        let rest = second % 86_400
        return "\(day)T\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))."
    }

    /// The number of days from 1970 to 2000.
    private static let daysTo2000: Int64 = 10_957

    private static func two(_ number: Int64) -> Substring {
        String(100 + number).dropFirst()
    }
}
