import Testing

@testable import MobileSDK

@Suite struct DeviceDescriptionTests {
    @Test func underscoresBecomeHyphens() {
        #expect(DeviceDescription.phone.language == "en-US")
    }

    @Test func thisMachine() async {
        let device = await DeviceDescription.current()
        #expect(!device.systemVersion.isEmpty && !device.systemName.isEmpty && !device.model.isEmpty)
        #expect(!device.language.contains("_"))
    }
}
