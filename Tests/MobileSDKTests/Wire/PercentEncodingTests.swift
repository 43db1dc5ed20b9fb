import Testing

@testable import MobileSDK

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        (
            "~!@#$%^&*()-+=|}{][\\/.<,>",
            "~%21%40%23%24%25%5E%26%2A%28%29-%2B%3D%7C%7D%7B%5D%5B%5C%2F.%3C%2C%3E"
        ),
        ("网", "%E7%BD%91"), (" ", "%20"), ("", ""), ("AZaz09-._~", "AZaz09-._~"), ("\0\u{7F}", "%00%7F"),
    ])
    func encodes(_ text: String, _ expected: String) {
        #expect(PercentEncoding.encode(text) == expected)
    }
}
