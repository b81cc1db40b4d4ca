#include <gtest/gtest.h>

#include "alidade/report/content_digest.hpp"
#include "alidade/report/html.hpp"

namespace alidade::testing::report_content {
namespace {

using namespace alidade::report::detail;

std::string hexadecimal(const std::array<std::uint8_t, 32>& digest) {
    std::string text;
    for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
    return text;
}

// The examples of FIPS 180-4 (and 55 to 65 bytes: about the end of a block, by sha256sum).
TEST(ContentDigest, IsThatOfTheStandard) {
    EXPECT_EQ(hexadecimal(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hexadecimal(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hexadecimal(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hexadecimal(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(hexadecimal(sha256(std::string(64, 'a'))),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// The examples of RFC 4648.
TEST(Base64, IsThatOfTheStandard) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

TEST(Html, ShowsEveryCharacterAndObeysNone) {
    EXPECT_EQ(escaped("<script>alert(\"1\" & '2')</script>"),
              "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
    EXPECT_EQ(escaped("Straße 🚚"), "Straße 🚚");
    // A mark that turns the direction of writing would make a name read as another.
    EXPECT_EQ(escaped("a\xe2\x80\xae"
                      "b"),
              "a\\u202eb");
    EXPECT_EQ(escaped("a\nb"), "a\\x0ab");
}

TEST(Html, DataEndNoScriptElement) {
    const std::string inside = inside_script(R"({"name":"</script><script>alert(1)</script><!--"})");
    EXPECT_EQ(inside.find('<'), std::string::npos);
    EXPECT_EQ(inside.find('>'), std::string::npos);
    EXPECT_EQ(inside_script("[1,2]"), "[1,2]");
}

}  // namespace
}  // namespace alidade::testing::report_content
