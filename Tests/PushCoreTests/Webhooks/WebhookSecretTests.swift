import PushCore
import Testing

@Suite("Webhook signatures and addresses")
struct WebhookSecretTests {
    /// The example of Standard Webhooks.
    @Test func knownSignature() {
        let bytes: [UInt8] = [
            49, 242, 144, 246, 191, 6, 41, 138, 171, 79, 8, 212, 60, 63, 8, 44, 246, 72, 163, 98, 218, 45, 164, 176,
        ]
        let secret = WebhookSecret(bytes: bytes)
        #expect(secret.text == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func newSecretsDiffer() {
        #expect(WebhookSecret().bytes.count == 32)
        #expect(WebhookSecret() != WebhookSecret())
    }

    @Test(arguments: [
        ("https://hooks.example/x?y=1", "hooks.example"), ("https://Hooks.example:8443", "hooks.example"),
        ("https://[2001:db8::1]:8443/x", "[2001:db8::1]"), ("https://10.0.0.1#x", "10.0.0.1"),
    ])
    func hosts(_ url: String, _ host: String) {
        #expect(WebhookTarget(url)?.host == host)
    }

    @Test(arguments: ["http://hooks.example", "https://", "https://user@hooks.example", "https://[::1", "ftp://x", ""])
    func noTargets(_ url: String) {
        #expect(WebhookTarget(url) == nil)
    }

    @Test func lists() throws {
        let target = try #require(WebhookTarget("https://hooks.example/x"))
        #expect(target.isIn("a.example, HOOKS.example"))
        for list in ["", "example", "hooks.example.org", "xhooks.example"] { #expect(!target.isIn(list)) }
    }

    @Test(arguments: [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd12::1",
        "ff02::1",
        "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "fec0::1",
    ])
    func privateAddresses(_ text: String) throws {
        #expect(try !#require(IPAddress(text)).isPublic, "\(text)")
    }

    @Test(arguments: [
        "8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "100.128.0.1", "2a00:1450:4001:800::200e",
        "64:ff9b::808:808", "::ffff:8.8.8.8",
    ])
    func publicAddresses(_ text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic, "\(text)")
    }
}
