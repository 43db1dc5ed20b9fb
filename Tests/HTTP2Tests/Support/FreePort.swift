import NIOCore
import NIOPosix

/// Ports for servers that cannot choose one.
enum FreePort {
    /// A port of 127.0.0.1 that nothing listens on at the moment.
    static func any() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }

    /// Tries an action with free ports until one is not taken by another process meanwhile.
    static func withAny<Result>(_ body: (Int) async throws -> Result) async throws -> Result {
        for _ in 0..<20 {
            if let result = try? await body(try await any()) { return result }
        }
        return try await body(try await any())
    }

    /// Tries to connect until a program listens.
    /// - Throws: if the program has ended instead, for example because another process has taken the port.
    static func served(_ port: Int, by server: ExternalProcess) async throws {
        while !server.output.value.isComplete {
            let attempt = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port)
                .get()
            if let attempt { return try await attempt.close() }
            await Task.yield()
        }
        throw NotSeen(what: "a server on port \(port)", last: server.output.value.lines.joined(separator: "\n"))
    }
}
