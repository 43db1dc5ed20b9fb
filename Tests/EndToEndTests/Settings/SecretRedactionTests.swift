import PushCore
import Testing

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
}
