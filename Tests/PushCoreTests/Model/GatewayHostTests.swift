import PushCore
import Testing

@Suite("Hosts of gateways")
struct GatewayHostTests {
    @Test(
        "A host has one form",
        arguments: [
            ("api.push.apple.com", "api.push.apple.com"), ("API.PUSH.APPLE.COM", "api.push.apple.com"),
            ("api.sandbox.push.apple.com.", "api.sandbox.push.apple.com"), ("localhost", "localhost"), ("h", "h"),
            ("stand-in", "stand-in"), ("gateway_simulator", "gateway_simulator"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("3com.example", "3com.example"), ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"),
            ("[::1]", "::1"), ("::1", "::1"), ("::", "::"), ("2001:DB8::1", "2001:db8::1"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:192.0.2.1"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7::"),
        ]
    )
    func forms(_ given: String, _ form: String) throws {
        #expect(try GatewayHost(given).text == form)
        #expect(try GatewayHost(form).text == form)
        #expect(GatewayHost.comparable(given) == form)
    }

    @Test(
        "What is no host is refused with what is wrong, and what was meant",
        arguments: [
            ("", "empty"), (".", "neither"), ("https://api.push.apple.com", "scheme"),
            ("https://api.push.apple.com", "alone, api.push.apple.com"),
            ("https://user:secret@[::1]:443/path?x", "alone, ::1"), ("api.push.apple.com:443", "port"),
            ("api.push.apple.com:443", "alone, api.push.apple.com"), ("[::1]:443", "port"), ("[::1]:443", "alone, ::1"),
            (" 127.0.0.1", "blanks"), (" 127.0.0.1", "alone, 127.0.0.1"), ("a b", "blanks"),
            ("a\u{1B}[31mb", "control"),
            ("a\nb", "control"), ("fcm.googleapis.com/v1", "path"), ("bücher.example", "xn--"), ("256.1.1.1", "IPv4"),
            ("127.1", "IPv4"), ("010.0.0.1", "IPv4"), ("1.2.3.4.5", "IPv4"), ("0x7f.1", "IPv4"), ("a..b", "neither"),
            ("-a.example", "neither"), ("a-.example", "neither"), ("user@host", "neither"), ("*.example", "neither"),
            ("1::2::3", "neither"), (":::", "neither"), ("1:2:3:4:5:6:7", "neither"), ("1:2:3:4:5:6:7:8:9", "neither"),
            ("1:2:3:4:5:6:7:8::", "neither"), ("12345::", "neither"), ("::g", "neither"), ("[]", "neither"),
            ("[localhost]", "neither"), ("fe80::1%eth0", "neither"),
            (String(repeating: "a", count: 64), "neither"), (String(repeating: "a.", count: 130) + "a", "neither"),
        ]
    )
    func refusals(_ given: String, _ words: String) {
        let error = #expect(throws: GatewayHostError.self) { try GatewayHost(given) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
    }

    @Test("Nothing crashes it, and what it takes it takes again")
    func randomTexts() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var state = seed
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        let words = [
            "[", "]", ":", "::", ".", "-", "a", "Z", "0", "255", "256", "f", "1", "é", " ", "://", "/", "@", "\u{0}",
        ]
        var taken = 0
        for _ in 0..<5_000 {
            let text = (0..<next(12)).map { _ in words[next(words.count)] }.joined()
            guard let host = try? GatewayHost(text) else { continue }
            taken += 1
            #expect((try? GatewayHost(host.text)) == host, "seed \(seed): \(text)")
        }
        #expect(taken > 0)
    }

    @Test(
        "The environment of Apple's gateways is known however they are written",
        arguments: [
            ("api.push.apple.com.", ApplicationEnvironment.production), ("API.SANDBOX.push.apple.com.", .sandbox),
            ("api.development.push.apple.com", .sandbox), ("gateway.push.apple.com", .production),
        ]
    )
    func environments(_ host: String, _ environment: ApplicationEnvironment) {
        #expect(ApplicationEnvironment(gatewayHost: host) == environment)
    }

    @Test func theFeedbackHostOfAnAccountIsAHost() {
        func problem(_ host: String) -> String? {
            AccountOption.problem(json: #"{"feedback_host": "\#(host)"}"#, connector: .iosBinary)
        }
        #expect(problem("feedback.push.apple.com") == nil && problem("::1") == nil)
        #expect(problem("https://feedback.push.apple.com")?.contains("host name") == true)
        #expect(problem("a b") != nil && problem("") != nil)
    }
}
