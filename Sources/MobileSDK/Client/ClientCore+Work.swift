import Foundation

extension ClientCore {
    /// Sends a request beside the other work, and hands in the result as a command.
    func send(_ request: PushRequest, then command: @escaping @Sendable (TransportResult) -> ClientCommand) {
        Task { [transport, commands] in
            let result: TransportResult
            do {
                result = TransportResult(try await transport.send(request))
            } catch {
                result = .failure(reason: error.localizedDescription)
            }
            commands.yield(command(result))
        }
    }

    /// Waits beside the other work. A timer that was replaced fires too, and the machine takes no notice of it.
    func wait(_ seconds: Double, then command: ClientCommand) {
        Task { [clock, commands] in
            do { try await clock.sleep(seconds: seconds) } catch { return }
            commands.yield(command)
        }
    }
}
