import Foundation
import ProcessProtocol

/// Reads the supervisor's commands from standard input, on a thread of its own, as a pipe's end has no event to wait for.
enum CommandReader {
    enum Input: Sendable {
        case command(SupervisorCommand)
        /// The supervisor is gone.
        case ended
    }

    static func start() -> AsyncStream<Input> {
        let (stream, continuation) = AsyncStream.makeStream(of: Input.self)
        let thread = Thread {
            var parser = LineParser<SupervisorMessage>()
            let input = FileHandle.standardInput
            while let data = try? input.read(upToCount: 4_096), !data.isEmpty {
                for message in parser.parse(data) { continuation.yield(.command(message.command)) }
            }
            continuation.yield(.ended)
            continuation.finish()
        }
        thread.name = "commands"
        thread.start()
        return stream
    }
}
