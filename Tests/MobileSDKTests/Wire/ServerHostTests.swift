import Testing

@testable import MobileSDK

@Suite struct ServerHostTests {
    @Test(arguments: [
        ("marketingServer", "https://marketingServer"), ("https://host:8443/", "https://host:8443"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        (" host.example.com:443/push/ ", "https://host.example.com:443/push"),
        ("https://[::1]:8443//", "https://[::1]:8443"),
    ])
    func bases(_ text: String, _ base: String) {
        #expect(ServerHost.base(text) == base)
    }

    @Test(arguments: [nil, "", "  ", "https://", "ftp://host", "https://host/?a=b", "https://host/#a", "///"])
    func noServers(_ text: String?) {
        #expect(ServerHost.base(text) == nil)
    }
}
