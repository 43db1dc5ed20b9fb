import PushCore
import Testing

@testable import Administration
@testable import Laboratory

@Suite struct SecretRedactionTests {
    @Test(arguments: [
        "postgres://user:secret@host/db", "postgresql://user:secret@host/db", "POSTGRES://u:s@h",
        "host=h password=secret",
        "host=h PASSWORD = 'se cret'", "postgres://host/db?password=secret", "host=h sslpassword=x",
    ])
    func aSecretIsLeftOut(_ text: String) {
        #expect(SecretRedaction.connectionString(text) == SecretRedaction.mark)
    }

    @Test(arguments: [
        "", "host=/tmp/x user=pushmta dbname=pushmta", "postgres://user@host/db", "service=main", "postgres:///db",
    ])
    func whatHoldsNoneIsShown(_ text: String) {
        #expect(SecretRedaction.connectionString(text) == text)
    }

    @Test func aPasswordIsNeverShown() throws {
        var settings = Settings()
        let definition = try #require(Settings.definitions.first { $0.key == "nmac.proxyHTTP.password" })
        #expect(definition.redactedText(in: settings) == "")
        settings.nmac.proxyHTTP.password = "hunter2"
        #expect(definition.redactedText(in: settings) == SecretRedaction.mark)
        #expect(SecretRedaction.userInfo("me:hunter2@proxy.example") == SecretRedaction.mark + "@proxy.example")
        #expect(SecretRedaction.userInfo("proxy.example") == "proxy.example")
    }
}
