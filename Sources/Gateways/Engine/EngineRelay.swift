import HTTP2
import NIOCore

/// Passes what the HTTP/2 client tells on to the engine, and lets go of it at the end.
final class EngineRelay: HTTP2ClientDelegate {
    private let engine: NIOLoopBoundBox<GatewayEngine?>

    init(_ engine: NIOLoopBoundBox<GatewayEngine?>) {
        self.engine = engine
    }

    func departing(_ requests: [HTTP2Departure]) -> Bool {
        // Nobody would hear of the answers any more.
        engine.value?.departing(requests) ?? false
    }

    func completed(_ completions: [HTTP2Completion]) {
        engine.value?.completed(completions)
    }

    func connectionEvent(_ event: HTTP2ConnectionEvent) {
        engine.value?.connectionEvent(event)
    }
}
