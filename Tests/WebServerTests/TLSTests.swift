import Foundation
import NIOSSL
import PushCore
import TestSupport
import Testing

@testable import WebServer

@Suite struct TLSTests {
    @Test func bothSocketsServe() async throws {
        let folder = NSTemporaryDirectory() + "tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments =
            "req -new -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout \(folder)/key.pem -out \(folder)/cert.pem"
            .split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let port = Int(try FreePort.find())
        let site = try await WebSite.start {
            $0.tlsPort = port
            $0.certificateFile = folder + "/cert.pem"
            $0.privateKeyFile = folder + "/key.pem"
            $0.limits.headerTimeoutSec = 2
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(folder + "/cert.pem")
        let context = try NIOSSLContext(configuration: configuration)
        let answer = try await RawHTTP.exchange(
            port: port,
            RawHTTP.request(
                "POST",
                "/nms/mobile/1/registerIOS.jssp",
                body: "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"
            ),
            tls: context
        )
        #expect(answer.status == 200)
        #expect(try await site.get("/r/test").status == 200)
        // Plain text on the TLS port, and a handshake that never comes: the connection ends.
        _ = try? await RawHTTP.exchange(port: port, [Array("GET / HTTP/1.1\r\n\r\n".utf8)], answers: 1)
        #expect(try await RawHTTP.exchange(port: port, [[]], answers: 1).isEmpty)
        try await site.drain()
    }

    @Test func aWrongCertificateIsASettingsError() async throws {
        await #expect(throws: WebServerError.self) {
            _ = try await WebSite.start(waits: false) {
                $0.port = 0
                $0.tlsPort = 4_433
                $0.certificateFile = "/nowhere/cert.pem"
            }.drain()
        }
    }
}
