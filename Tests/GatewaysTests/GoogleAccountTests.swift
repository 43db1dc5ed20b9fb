import CurlClient
import Foundation
import GatewayTestSupport
import PushCore
import Testing

@testable import Gateways

/// FCM without a key file: workload identity, impersonation, the metadata server; and what none of them may do.
@Suite struct GoogleAccountTests {
    private static let email = "sender@example-project.iam.gserviceaccount.com"

    /// A credential file of workload identity federation; nil removes a field.
    private func workload(
        _ changes: [String: Any?] = [:],
        source: [String: Any] = ["file": "/run/tokens/token"],
        origin: String? = nil
    ) throws -> [UInt8] {
        var fields: [String: Any] = [
            "type": "external_account", "project_id": "example-project",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": (origin ?? "https://sts.googleapis.com") + "/v1/token", "credential_source": source,
        ]
        for (name, value) in changes { fields[name] = value }
        return Array(try JSONSerialization.data(withJSONObject: fields))
    }

    private func impersonation(_ origin: String = "https://iamcredentials.googleapis.com") -> String {
        "\(origin)/v1/projects/-/serviceAccounts/\(Self.email):generateAccessToken"
    }

    private func policy(_ change: (inout TokenSourceSettings) -> Void = { _ in }) -> TokenSourcePolicy {
        var settings = TokenSourceSettings()
        change(&settings)
        return TokenSourcePolicy(settings)
    }

    private func message(_ json: [UInt8]) -> String? {
        do throws(GatewayCredentialError) {
            _ = try GoogleAccount(json: json)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func theProjectNeedNotStandInTheFile() throws {
        let target = try workload(["project_id": nil, "service_account_impersonation_url": impersonation()])
        #expect(try GoogleAccount(json: target).projectID == "example-project")
        let quota = try workload(["project_id": nil, "quota_project_id": "quota-project"])
        #expect(try GoogleAccount(json: quota).projectID == "quota-project")
        #expect(message(try workload(["project_id": nil]))?.contains("names no project") == true)
    }

    @Test func tokensGoToGoogleAlone() throws {
        for host in [
            "https://sts.example.com", "http://sts.googleapis.com", "https://sts.googleapis.com.example.com",
            "https://sts.googleapis.com:8443", "https://me@sts.googleapis.com", "https://example.com/.googleapis.com",
            "https://example.com#.googleapis.com", "https://evilgoogleapis.com", "https://STS.GOOGLEAPIS.COM",
            "file://x", "https://firebasestorage.googleapis.com", "https://storage.googleapis.com",
            "https://googleapis.com",
            "https://iamcredentials.googleapis.com.sts.googleapis.com",
        ] {
            #expect(
                message(try workload(["token_url": host + "/v1/token"]))?.contains("not an https address of Google")
                    == true,
                "\(host)"
            )
            let url = ["service_account_impersonation_url": impersonation(host)]
            #expect(message(try workload(url))?.contains("not an https address of Google") == true, "\(host)")
        }
        for url in [
            "https://firebasestorage.googleapis.com/v0/b/evil.appspot.com/o?name=x",
            "https://iamcredentials.googleapis.com/v1/token", "https://sts.googleapis.com/v1/token?x=y",
            "https://sts.googleapis.com/v1/token/", "https://sts.googleapis.com/v1/token#x",
            "https://sts.googleapis.com/v1/x",
            "https://sts.googleapis.com/", "https://sts.googleapis.com/v1/tokens",
        ] {
            #expect(message(try workload(["token_url": url]))?.contains("token_url") == true, "\(url)")
        }
        for rest in [
            "a@b:generateAccessToken?x=y", "a@b/..:generateAccessToken", "a@b#:generateAccessToken",
            "a@b@c:generateAccessToken",
            "a%2F@b:generateAccessToken", "@b:generateAccessToken", "a:generateAccessToken",
            "a@b?c:generateAccessToken",
        ] {
            let url = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/" + rest
            #expect(
                message(try workload(["service_account_impersonation_url": url]))?.contains("gserviceaccount.com")
                    == true,
                "\(rest)"
            )
        }
        let elsewhere = impersonation().replacing("projects/-/", with: "projects/other/")
        #expect(message(try workload(["service_account_impersonation_url": elsewhere])) != nil)
        for (token, target) in [
            ("https://sts.googleapis.com", "https://iamcredentials.googleapis.com"),
            ("https://sts.mtls.googleapis.com", "https://iamcredentials.mtls.googleapis.com"),
        ] {
            let taken = ["token_url": token + "/v1/token", "service_account_impersonation_url": impersonation(target)]
            #expect(message(try workload(taken)) == nil, "\(token)")
        }
        let other = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:signBlob"
        #expect(
            message(try workload(["service_account_impersonation_url": other]))?.contains("generateAccessToken") == true
        )
        #expect(
            message(try workload(source: ["executable": ["command": "/bin/sh"]]))?.contains("PushMTA runs none") == true
        )
        #expect(message(try workload(source: ["environment_id": "aws1"]))?.contains("AWS") == true)
        #expect(message(try workload(source: ["file": "relative"]))?.contains("full path") == true)
    }

    @Test func nothingIsReadThatTheSettingsDoNotAllow() throws {
        let file = try GoogleAccount(json: workload())
        let url = "http://169.254.169.254/token?resource=x"
        let address = try GoogleAccount(json: workload(source: ["url": url]))
        let machine = try GoogleAccount(json: Array(#"{"type":"metadata_server","project_id":"example-project"}"#.utf8))
        for (account, setting) in [
            (file, "nmac.fcm.tokenPath"), (address, "nmac.fcm.tokenURLs"), (machine, "nmac.fcm.metadataServer"),
        ] {
            let error = #expect(throws: GatewayCredentialError.self) { try account.requireAllowed(by: policy()) }
            #expect(error?.code == .notAllowed && error?.message.contains(setting) == true)
        }
        try file.requireAllowed(by: policy { $0.tokenPath = "/run/tokens" })
        try address.requireAllowed(by: policy { $0.tokenURLs = "https://a.example/x; \(url)" })
        try machine.requireAllowed(by: policy { $0.metadataServer = true })
        for folder in ["/run/token", "/run/tokens/token", "/etc"] {
            #expect(throws: GatewayCredentialError.self) {
                try file.requireAllowed(by: policy { $0.tokenPath = folder })
            }
        }
        let outside = try GoogleAccount(json: workload(source: ["file": "/run/tokens/../secret"]))
        #expect(throws: GatewayCredentialError.self) {
            try outside.requireAllowed(by: policy { $0.tokenPath = "/run/tokens" })
        }
        #expect(throws: GatewayCredentialError.self) {
            try address.requireAllowed(by: policy { $0.tokenURLs = url + "&more=1" })
        }
    }

    private func serviceAccount(_ tokenURI: String, isInner: Bool) throws -> GoogleAccount {
        let account = [
            "type": "service_account", "project_id": "example-project", "private_key": TestKeys.rsa,
            "client_email": Self.email, "token_uri": tokenURI,
        ]
        let impersonated: [String: Any] = [
            "type": "impersonated_service_account", "service_account_impersonation_url": impersonation(),
            "source_credentials": account,
        ]
        let file: [String: Any] = isInner ? impersonated : account
        return try GoogleAccount(json: Array(try JSONSerialization.data(withJSONObject: file)))
    }

    @Test(arguments: [false, true])
    func aServiceAccountAsksGoogleOrWhomTheOperatorAllows(_ isInner: Bool) throws {
        for uri in [
            "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
            "https://www.googleapis.com/oauth2/v4/token",
        ] { try serviceAccount(uri, isInner: isInner).requireAllowed(by: policy()) }
        let gateways = ["gateway.example", "127.0.0.1", "::1"]
        for uri in [
            "https://10.0.0.1/token", "https://oauth2.googleapis.com/other", "https://storage.googleapis.com/b/token",
            "https://gateway.example@10.0.0.1/", "https://10.0.0.1/@gateway.example",
            "https://10.0.0.1#gateway.example",
            "https://x.gateway.example/", "https://gateway.example.evil.example/", "https://10.0.0.1:1?127.0.0.1",
        ] {
            let account = try serviceAccount(uri, isInner: isInner)
            let error = #expect(throws: GatewayCredentialError.self, "\(uri)") {
                try account.requireAllowed(by: policy(), gateways: gateways)
            }
            #expect(error?.code == .notAllowed && error?.message.contains("nmac.fcm.tokenURLs") == true)
            try account.requireAllowed(by: policy { $0.tokenURLs = "https://a.example/x;\(uri)" })
        }
        for uri in [
            "https://gateway.example/token", "https://Gateway.Example:8443/token", "https://127.0.0.1:35777/token",
            "https://[::1]:9/token",
        ] {
            let account = try serviceAccount(uri, isInner: isInner)
            try account.requireAllowed(by: policy(), gateways: gateways)
            #expect(throws: GatewayCredentialError.self, "\(uri)") { try account.requireAllowed(by: policy()) }
        }
    }

    @Test func aLinkLeadsOutOfTheFolderForNobody() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let folder = files.folder.appendingPathComponent("tokens").path
        try FileManager.default.createDirectory(atPath: folder + "/..data", withIntermediateDirectories: true)
        try "inside".write(toFile: folder + "/..data/token", atomically: true, encoding: .utf8)
        try "outside".write(toFile: files.folder.path + "/other", atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: folder + "/token", withDestinationPath: "..data/token")
        try FileManager.default.createSymbolicLink(atPath: folder + "/out", withDestinationPath: "../other")
        let policy = policy { $0.tokenPath = folder }
        #expect(policy.read(folder + "/token") == Array("inside".utf8), "as Kubernetes has them")
        #expect(policy.read(folder + "/out") == nil)
        #expect(policy.read(folder + "/../other") == nil)
        #expect(policy.read(folder) == nil)
        #expect(policy.read("/dev/zero") == nil)
    }

    /// A server with the token endpoints of Google and of another provider, which records its requests.
    private static let script = """
        import http.server, json
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments): pass
            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                print("asked", self.command, self.path, self.headers.get("authorization") or "-",
                      self.headers.get("metadata-flavor") or self.headers.get("x-who") or "-", body.replace("\\n", ""), flush=True)
                if "generateAccessToken" in self.path:
                    said = {"accessToken": "impersonated", "expireTime": "2100-01-01T00:00:00Z"}
                    if "refused" in self.headers.get("authorization"):
                        self.send_response(403)
                        said = {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no right"}}
                    else: self.send_response(200)
                elif self.path == "/subject":
                    self.send_response(200)
                    said = {"id_token": "from-address"}
                else:
                    self.send_response(200)
                    said = {"access_token": "refused" if "refused" in body else "exchanged", "expires_in": 3599}
                self.end_headers()
                self.wfile.write(json.dumps(said).encode())
            do_GET = do_POST = answer
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        print("port", server.server_port, flush=True)
        server.serve_forever()
        """

    @Test func tokensAreFetchedAsGoogleAuthFetchesThem() async throws {
        let server = try PythonProcess(Self.script, [])
        defer { server.terminate() }
        let origin = "http://127.0.0.1:\(try await server.line("port"))"
        let files = try TestCertificates()
        defer { files.remove() }
        let folder = files.folder.path
        try "from-file\n".write(toFile: folder + "/token", atomically: true, encoding: .utf8)
        try "refused".write(toFile: folder + "/refused", atomically: true, encoding: .utf8)
        let hosts = GoogleHosts(other: origin)
        let policy = policy {
            $0.tokenPath = folder
            $0.tokenURLs = origin + "/subject"
            $0.metadataServer = true
        }
        func fetch(_ json: [UInt8]) async throws -> Result<AccessTokenGrant, TokenFailure> {
            let account = try GoogleAccount(json: json, hosts: hosts)
            try account.requireAllowed(by: policy)
            return await AccessTokenFetcher(
                account: account,
                curl: CurlClient(),
                trustRootsFile: nil,
                proxy: nil,
                policy: policy,
                metadataServer: origin,
                now: { Date() }
            ).fetch()
        }
        let file = ["file": folder + "/token"]
        #expect(try await fetch(workload(source: file, origin: origin)).get().token == "exchanged")
        let address: [String: Any] = [
            "url": origin + "/subject", "headers": ["x-who": "me"],
            "format": ["type": "json", "subject_token_field_name": "id_token"],
        ]
        let target = ["service_account_impersonation_url": impersonation(origin)]
        let grant = try await fetch(workload(target, source: address, origin: origin)).get()
        #expect(grant.token == "impersonated" && grant.expiresInSeconds ?? 0 > 1_000_000)
        let machine = try await fetch(Array(#"{"type":"metadata_server","project_id":"example-project"}"#.utf8)).get()
        #expect(machine.token == "exchanged" && machine.expiresInSeconds == 3_599)
        let inner = try JSONSerialization.jsonObject(with: Data(workload(source: file, origin: origin)))
        let impersonated: [String: Any] = [
            "type": "impersonated_service_account", "service_account_impersonation_url": impersonation(origin),
            "source_credentials": inner, "delegates": ["projects/-/serviceAccounts/between@example.com"],
        ]
        #expect(
            try await fetch(Array(JSONSerialization.data(withJSONObject: impersonated))).get().token == "impersonated"
        )
        let refused = try await fetch(workload(target, source: ["file": folder + "/refused"], origin: origin))
        let missing = try await fetch(workload(source: ["file": folder + "/missing"], origin: origin))
        #expect(throws: TokenFailure.self) { try refused.get() }
        if case .failure(let failure) = refused {
            #expect(failure.kind == .refused && failure.reason == "PERMISSION_DENIED" && failure.status == 403)
            #expect(failure.message.contains("Token Creator"))
        }
        if case .failure(let failure) = missing {
            #expect(failure.kind == .unavailable && failure.reason == "NoSubjectToken")
        } else {
            Issue.record("\(missing)")
        }
        let asked = try await server.lines("asked", count: 9)
        #expect(asked.count == 9)
        #expect(asked[0].contains("subject_token=from-file&") && asked[0].contains("firebase.messaging"))
        #expect(asked[1] == "GET /subject - me ")
        #expect(asked[2].contains("subject_token=from-address&") && asked[2].contains("cloud-platform"))
        #expect(asked[3].contains("Bearer exchanged") && asked[3].contains("firebase.messaging"))
        #expect(asked[4].contains("/service-accounts/default/token?scopes=") && asked[4].contains("Google"))
        #expect(asked[6].contains("between@example.com"))
    }
}
