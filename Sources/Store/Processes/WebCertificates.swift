import PostgresClient

extension Store {
    /// Notes until when a web process's certificate is good.
    ///
    /// - Parameter expires: seconds of Unix time.
    public func noteWebCertificate(host: String, file: String, expires: Int) async throws {
        try await query(
            "SELECT pushmta_engine.note_web_certificate($1, $2, $3)",
            [.text(host), .text(file), .double(Double(expires))]
        )
    }
}
