import Hummingbird
import Store

/// Writes server-sent events.
enum EventWriter {
    static func run(
        _ writer: inout any ResponseBodyWriter,
        _ body: (_ send: (LiveEvent) async throws -> Void) async throws -> Void
    ) async throws {
        var current = writer
        try await body { event in
            try await current.write(event.bytes)
        }
        writer = current
    }
}
