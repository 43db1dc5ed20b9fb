import Foundation
import HTTP2
import Testing

/// Our client against `nghttpd`, the nghttp2 project's server.
@Suite struct NghttpdTests {
    @Test(arguments: [(100, 1), (1_000, 1), (1_000, 4), (1, 2)])
    func thousandsOfRequests(_ limit: Int, _ connections: Int) async throws {
        let certificate = try TestCertificate.shared.get()
        let documents = try TemporaryFolder.shared.get() + "/documents"
        try FileManager.default.createDirectory(atPath: documents + "/found", withIntermediateDirectories: true)
        for number in stride(from: 0, to: 10, by: 2) {
            try Data("document \(number)".utf8).write(to: URL(fileURLWithPath: "\(documents)/found/\(number)"))
        }
        let (server, port) = try await FreePort.withAny { port in
            let server = try ExternalProcess(
                "nghttpd",
                [
                    "-a", "127.0.0.1", "-m", "\(limit)", "-d", documents, "\(port)", certificate.keyFile,
                    certificate.certificateFile,
                ]
            )
            try await FreePort.served(port, by: server)
            return (server, port)
        }
        let test = try await TestClient(port: port, tls: true, connections: connections, initialLimit: 1)
        let count = limit == 1 ? 500 : 10_000
        let batches = count / 500
        for tag in 0..<batches {
            let batch = TestBatch.make(500, tag: Int64(tag), path: tag % 2 == 0 ? "/nowhere/" : "/found/")
            test.client.submit(batch)
        }
        let seen = try await test.probe.resolved(count)
        for tag in 0..<batches { #expect(seen.counts(Int64(tag), 500).allSatisfy { $0 == 1 }) }
        #expect(seen.answered == count)
        for resolved in seen.resolved {
            guard case .response(let response) = resolved.result else { continue }
            let isFound = resolved.tag % 2 == 1 && resolved.index < 10 && resolved.index % 2 == 0
            #expect(response.status == (isFound ? 200 : 404))
            if isFound { #expect(String(decoding: response.body, as: UTF8.self) == "document \(resolved.index)") }
        }
        #expect(seen.limits.allSatisfy { $0 == limit })
        await test.client.shutdown()
        #expect(test.seen.endings.allSatisfy { $0 == nil })
        server.terminate()
    }
}
