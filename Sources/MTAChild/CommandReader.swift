import Foundation
import ProcessProtocol

/// Reads the supervisor's commands from standard input, on its own thread, because no event signals the end of a pipe.
enum CommandReader {
    enum Input: Sendable {
        case command(SupervisorCommand, detail: String? = nil, trace: TraceOrder? = nil)
        /// The supervisor is gone.
        case ended
    }

    static func start() -> AsyncStream<Input> {
        let (stream, continuation) = AsyncStream.makeStream(of: Input.self)
        let thread = Thread {
            var parser = LineParser<SupervisorMessage>()
            var buffer = [UInt8](repeating: 0, count: 4_096)
            // `FileHandle.read(upToCount:)` would wait for all of the 4,096 bytes.
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for message in parser.parse(buffer[..<count]) {
                    continuation.yield(.command(message.command, detail: message.detail, trace: message.trace))
                }
            }
            continuation.yield(.ended)
            continuation.finish()
        }
        thread.name = "commands"
        thread.start()
        return stream
    }
}
